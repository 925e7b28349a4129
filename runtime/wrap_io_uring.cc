// io_uring, as liburing uses it: its system calls go by no function of libc, and the rings are memory that the kernel
// writes. What is submitted is ordered before whatever sees that something is complete: the program does so by an acquire
// of the ring's tail, mostly in code that the compiler has put into it, so a submission is a release of that word.
#include "runtime/blocking.h"
#include "runtime/intercept.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

// The begin of `struct io_uring`, which programs have in themselves and which therefore stays as it is.
struct Ring {
  u64 submissions[13];
  u32 *completed_head, *completed_tail;
};
static_assert(__builtin_offsetof(Ring, completed_tail) == 112);

// `reaps`: looks for completions; `waits`: until there is one, so that others must go on meanwhile.
template <typename Call>
SOOTH_INLINE auto use_ring(uptr pc, Ring* ring, bool submits, bool reaps, bool waits, Call call) {
  Thread* t = current();
  if (t == nullptr || ring == nullptr || ring->completed_tail == nullptr) return call();
  if (submits) release_through(ring->completed_tail, pc);
  auto result = [&] {
    Blocking blocking(t, waits);
    return call();
  }();
  if (reaps) acquire_through(ring->completed_tail, pc);
  return result;
}

}  // namespace

SOOTH_INTERCEPT(int, io_uring_submit, Ring* ring) {
  return use_ring(SOOTH_CALLER, ring, true, false, false, [&] { return real_io_uring_submit(ring); });
}
SOOTH_INTERCEPT(int, io_uring_submit_and_wait, Ring* ring, unsigned count) {
  return use_ring(SOOTH_CALLER, ring, true, false, count != 0,
                  [&] { return real_io_uring_submit_and_wait(ring, count); });
}
SOOTH_INTERCEPT(int, io_uring_submit_and_wait_timeout, Ring* ring, void** entry, unsigned count, void* time,
                void* mask) {
  return use_ring(SOOTH_CALLER, ring, true, true, true,
                  [&] { return real_io_uring_submit_and_wait_timeout(ring, entry, count, time, mask); });
}
SOOTH_INTERCEPT(int, io_uring_submit_and_get_events, Ring* ring) {
  return use_ring(SOOTH_CALLER, ring, true, false, false, [&] { return real_io_uring_submit_and_get_events(ring); });
}
SOOTH_INTERCEPT(int, io_uring_get_events, Ring* ring) {
  return use_ring(SOOTH_CALLER, ring, false, false, false, [&] { return real_io_uring_get_events(ring); });
}
SOOTH_INTERCEPT(int, __io_uring_get_cqe, Ring* ring, void** entry, unsigned submit, unsigned count, void* mask) {
  return use_ring(SOOTH_CALLER, ring, submit != 0, true, count != 0,
                  [&] { return real___io_uring_get_cqe(ring, entry, submit, count, mask); });
}
SOOTH_INTERCEPT(int, io_uring_wait_cqes, Ring* ring, void** entry, unsigned count, void* time, void* mask) {
  return use_ring(SOOTH_CALLER, ring, true, true, true,
                  [&] { return real_io_uring_wait_cqes(ring, entry, count, time, mask); });
}
SOOTH_INTERCEPT(int, io_uring_wait_cqe_timeout, Ring* ring, void** entry, void* time) {
  return use_ring(SOOTH_CALLER, ring, true, true, true,
                  [&] { return real_io_uring_wait_cqe_timeout(ring, entry, time); });
}
SOOTH_INTERCEPT(unsigned, io_uring_peek_batch_cqe, Ring* ring, void** entries, unsigned count) {
  return use_ring(SOOTH_CALLER, ring, false, true, false,
                  [&] { return real_io_uring_peek_batch_cqe(ring, entries, count); });
}
