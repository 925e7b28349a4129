// Waiting for descriptors: poll, select and epoll.
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "runtime/blocking.h"
#include "runtime/descriptors.h"
#include "runtime/intercept.h"
#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

using virtual_clock::kNever;

// Time-outs in nanoseconds; kNever also for those that are not valid, which the real function refuses.
u64 limit_of(long seconds, long fraction, long nanoseconds_in_it) {
  if (seconds < 0 || seconds >= static_cast<long>(kNever / 2 / virtual_clock::kSecond) || fraction < 0) return kNever;
  return static_cast<u64>(seconds) * virtual_clock::kSecond +
         static_cast<u64>(fraction) * static_cast<u64>(nanoseconds_in_it);
}
u64 limit_of(int milliseconds) { return milliseconds < 0 ? kNever : static_cast<u64>(milliseconds) * 1'000'000; }
u64 limit_of(const timespec* time) { return time == nullptr ? kNever : limit_of(time->tv_sec, time->tv_nsec, 1); }

void is_ready(Thread* t, uptr pc, int fd, bool to_read, bool at_end) {
  if (to_read || at_end) descriptor_received(t, pc, fd, at_end);
}

// An event of an epoll set tells what was registered, not which descriptor it is about. One that is in several sets is
// known by the latest.
struct Member {
  int set;
  u64 data;
};
constexpr int kMembers = 1 << 14;
Member members_[kMembers];
int members_end_ = 0;

void remember_member(int set, int operation, int fd, const epoll_event* event) {
  if (fd < 0 || fd >= kMembers) return;
  members_[fd] = operation == EPOLL_CTL_DEL || event == nullptr ? Member{-1, 0} : Member{set, event->data.u64};
  for (int end = __atomic_load_n(&members_end_, __ATOMIC_RELAXED); fd >= end;)
    if (__atomic_compare_exchange_n(&members_end_, &end, fd + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

void members_ready(Thread* t, uptr pc, int set, const epoll_event& event) {
  int end = __atomic_load_n(&members_end_, __ATOMIC_RELAXED);
  for (int fd = 0; fd < end; ++fd)
    if (members_[fd].set == set && members_[fd].data == event.data.u64)
      is_ready(t, pc, fd, (event.events & EPOLLIN) != 0, (event.events & (EPOLLHUP | EPOLLRDHUP)) != 0);
}

}  // namespace

// What epoll_ctl registers happens before the epoll_wait that reports it.
SOOTH_INTERCEPT(int, epoll_create, int size) {
  int fd = real_epoll_create(size);
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, epoll_create1, int flags) {
  int fd = real_epoll_create1(flags);
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, epoll_ctl, int set, int operation, int fd, epoll_event* event) {
  if (Thread* t = current()) {
    if (event != nullptr && operation != EPOLL_CTL_DEL) reads(t, SOOTH_CALLER, event, sizeof *event);
    descriptor_sends(t, SOOTH_CALLER, set);
    remember_member(set, operation, fd, event);
  }
  return real_epoll_ctl(set, operation, fd, event);
}
static void epoll_reported(Thread* t, uptr pc, int set, const epoll_event* events, int n) {
  if (n <= 0) return;
  descriptor_received(t, pc, set);
  for (int i = 0; i < n; ++i) members_ready(t, pc, set, events[i]);
  writes(t, pc, events, static_cast<std::size_t>(n) * sizeof *events);
}
SOOTH_INTERCEPT(int, epoll_wait, int set, epoll_event* events, int room, int timeout) {
  Thread* t = current();
  if (t == nullptr) return real_epoll_wait(set, events, room, timeout);
  int n = wait_for_descriptors(t, true, limit_of(timeout), [&] { return real_epoll_wait(set, events, room, timeout); });
  epoll_reported(t, SOOTH_CALLER, set, events, n);
  return n;
}
SOOTH_INTERCEPT(int, epoll_pwait, int set, epoll_event* events, int room, int timeout, const sigset_t* mask) {
  Thread* t = current();
  if (t == nullptr) return real_epoll_pwait(set, events, room, timeout, mask);
  int n = wait_for_descriptors(t, true, limit_of(timeout),
                               [&] { return real_epoll_pwait(set, events, room, timeout, mask); });
  epoll_reported(t, SOOTH_CALLER, set, events, n);
  return n;
}
SOOTH_INTERCEPT(int, epoll_pwait2, int set, epoll_event* events, int room, const timespec* timeout,
                const sigset_t* mask) {
  Thread* t = current();
  if (t == nullptr) return real_epoll_pwait2(set, events, room, timeout, mask);
  int n = wait_for_descriptors(t, true, limit_of(timeout),
                               [&] { return real_epoll_pwait2(set, events, room, timeout, mask); });
  epoll_reported(t, SOOTH_CALLER, set, events, n);
  return n;
}

// Whoever hears that there is something to read comes behind whoever put it there, also when it does not read it.
static void polled(Thread* t, uptr pc, const pollfd* set, nfds_t count, int n) {
  for (nfds_t i = 0; n >= 0 && i < count; ++i) {
    reads(t, pc, &set[i], sizeof set[i].fd + sizeof set[i].events);
    writes(t, pc, &set[i].revents, sizeof set[i].revents);
  }
  for (nfds_t i = 0; n > 0 && i < count; ++i)
    if (set[i].revents != 0)
      is_ready(t, pc, set[i].fd, set[i].revents & POLLIN, set[i].revents & (POLLHUP | POLLRDHUP));
}
static void selected(Thread* t, uptr pc, int count, const fd_set* in, int n) {
  for (int fd = 0; n > 0 && in != nullptr && fd < count && fd < FD_SETSIZE; ++fd)
    if (FD_ISSET(fd, in)) is_ready(t, pc, fd, true, false);
}
SOOTH_INTERCEPT(int, poll, pollfd* set, nfds_t count, int timeout) {
  Thread* t = current();
  if (t == nullptr) return real_poll(set, count, timeout);
  int n = wait_for_descriptors(t, count != 0, limit_of(timeout), [&] { return real_poll(set, count, timeout); });
  polled(t, SOOTH_CALLER, set, count, n);
  return n;
}
SOOTH_INTERCEPT(int, ppoll, pollfd* set, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  Thread* t = current();
  if (t == nullptr) return real_ppoll(set, count, timeout, mask);
  int n = wait_for_descriptors(t, count != 0 || mask != nullptr, limit_of(timeout),
                               [&] { return real_ppoll(set, count, timeout, mask); });
  polled(t, SOOTH_CALLER, set, count, n);
  return n;
}
SOOTH_INTERCEPT(int, select, int count, fd_set* in, fd_set* out, fd_set* error, timeval* timeout) {
  Thread* t = current();
  if (t == nullptr) return real_select(count, in, out, error, timeout);
  u64 limit = timeout == nullptr ? kNever : limit_of(timeout->tv_sec, timeout->tv_usec, 1000);
  u64 end = virtual_clock::now() + limit;
  bool any = count != 0 || timeout == nullptr;
  int result = wait_for_descriptors(t, any, limit, [&] { return real_select(count, in, out, error, timeout); });
  // As the system does it.
  if (!any && limit < kNever && virtual_clock::is_on()) {
    u64 now = virtual_clock::now();
    timespec rest = virtual_clock::to_timespec(now < end ? end - now : 0);
    *timeout = {rest.tv_sec, rest.tv_nsec / 1000};
  }
  selected(t, SOOTH_CALLER, count, in, result);
  return result;
}
SOOTH_INTERCEPT(int, pselect, int count, fd_set* in, fd_set* out, fd_set* error, const timespec* timeout,
                const sigset_t* mask) {
  Thread* t = current();
  if (t == nullptr) return real_pselect(count, in, out, error, timeout, mask);
  int n = wait_for_descriptors(t, count != 0 || mask != nullptr, limit_of(timeout),
                               [&] { return real_pselect(count, in, out, error, timeout, mask); });
  selected(t, SOOTH_CALLER, count, in, n);
  return n;
}
