// The lock of a stream: taken by flockfile(), and by libc around each call of what a program gives to fopencookie().
#include <pthread.h>
#include <stdio.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/recorder.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

SOOTH_INTERCEPT(int, ftrylockfile, FILE* file) {
  Thread* t = current();
  if (t == nullptr) return real_ftrylockfile(file);
  begin_operation(t, SOOTH_CALLER, Op::kAcquire, address_of(file));
  const int result = real_ftrylockfile(file);
  if (result == 0)
    lock_acquired(t, SOOTH_CALLER, address_of(file), false, sooth::kTry);
  else
    lock_missed(t, SOOTH_CALLER, address_of(file), false, sooth::kTry);
  return result;
}

SOOTH_INTERCEPT(void, flockfile, FILE* file) {
  Thread* t = current();
  if (t == nullptr) return real_flockfile(file);
  if (turn::taken()) {
    begin_operation(t, SOOTH_CALLER, Op::kAcquire, address_of(file));
    begin_waiting(t, SOOTH_CALLER, address_of(file), {});
    while (real_ftrylockfile(file) != 0) {
      // Who is known to have it says so when it gives it back. Who has it inside of libc gives it back without a word.
      if (lock_holder(address_of(file)) != ~0u)
        turn::block(t, address_of(file), turn::BlockedOn::kMutex);
      else
        turn::poll(t, address_of(file), turn::BlockedOn::kMutex);
    }
  } else {
    real_flockfile(file);
  }
  lock_acquired(t, SOOTH_CALLER, address_of(file));
}

SOOTH_INTERCEPT(void, funlockfile, FILE* file) {
  Thread* t = current();
  if (t == nullptr) {
    real_funlockfile(file);
    if (turn::taken()) turn::wake(address_of(file), turn::kAll);  // it may have been recorded when it took the lock
    return;
  }
  begin_operation(t, SOOTH_CALLER, Op::kRelease, address_of(file));
  lock_releasing(t, SOOTH_CALLER, address_of(file), false);
  real_funlockfile(file);
  if (turn::taken()) turn::wake(address_of(file), turn::kAll);
}

namespace {

// What a program gave to fopencookie().
struct Cookie {
  void* own;
  cookie_io_functions_t functions;
  FILE* file;
};

// glibc's _IO_lock_t.
struct StreamLock {
  int word, count;
  void* owner;
};

// libc calls a function of the program, mostly with the stream's lock. Nobody goes first here: whoever then uses the stream
// would wait inside of libc, with the turn.
class Callback {
 public:
  explicit Callback(const Cookie& cookie, uptr pc) : lock_(address_of(cookie.file)), pc_(pc) {
    Thread* t = current();
    if (t == nullptr || cookie.file == nullptr) return;
    auto* lock = reinterpret_cast<StreamLock*>(cookie.file->_lock);
    locked_ = lock != nullptr && lock->owner == reinterpret_cast<void*>(pthread_self());
    if (!locked_) return;
    if (turn::taken()) turn::hold(t);
    lock_acquired(t, pc, lock_);
  }
  ~Callback() {
    Thread* t = current();
    if (t == nullptr || !locked_) return;
    if (turn::taken()) turn::hold(t);
    lock_releasing(t, pc_, lock_, false);
    // libc is about to give it back: who waits for this thread looks for itself from now on.
    if (turn::taken() && lock_holder(lock_) == ~0u) turn::wake(lock_, turn::kAll);
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  uptr lock_, pc_;
  bool locked_ = false;
};

template <typename F>
uptr code_of(F* function) {
  return reinterpret_cast<uptr>(function);
}

ssize_t read_cookie(void* p, char* to, std::size_t size) {
  auto* cookie = static_cast<Cookie*>(p);
  Callback callback(*cookie, code_of(cookie->functions.read));
  return cookie->functions.read(cookie->own, to, size);
}
ssize_t write_cookie(void* p, const char* from, std::size_t size) {
  auto* cookie = static_cast<Cookie*>(p);
  Callback callback(*cookie, code_of(cookie->functions.write));
  return cookie->functions.write(cookie->own, from, size);
}
int seek_cookie(void* p, off64_t* offset, int whence) {
  auto* cookie = static_cast<Cookie*>(p);
  Callback callback(*cookie, code_of(cookie->functions.seek));
  return cookie->functions.seek(cookie->own, offset, whence);
}
int close_cookie(void* p) {
  auto* cookie = static_cast<Cookie*>(p);
  int result = 0;
  if (cookie->functions.close != nullptr) {
    Callback callback(*cookie, code_of(cookie->functions.close));
    result = cookie->functions.close(cookie->own);
  }
  unmap_memory(cookie, sizeof *cookie);
  return result;
}

}  // namespace

SOOTH_INTERCEPT(FILE*, fopencookie, void* own, const char* mode, cookie_io_functions_t functions) {
  auto* cookie = current() == nullptr ? nullptr : static_cast<Cookie*>(map_memory(sizeof(Cookie)));
  if (cookie == nullptr) return real_fopencookie(own, mode, functions);
  *cookie = {own, functions, nullptr};
  cookie_io_functions_t ours = {functions.read == nullptr ? nullptr : read_cookie,
                                functions.write == nullptr ? nullptr : write_cookie,
                                functions.seek == nullptr ? nullptr : seek_cookie, close_cookie};
  FILE* file = real_fopencookie(cookie, mode, ours);
  if (file == nullptr)
    unmap_memory(cookie, sizeof *cookie);
  else
    cookie->file = file;
  return file;
}
