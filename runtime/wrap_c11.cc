// <threads.h>. In glibc its types are those of POSIX threads under other names; so are the wrappers.
#include <errno.h>
#include <threads.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth::rt;

namespace {

static_assert(sizeof(mtx_t) <= sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t) &&
              sizeof(once_flag) == sizeof(pthread_once_t));

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* cond) { return reinterpret_cast<pthread_cond_t*>(cond); }

int result_of(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
  }
}

}  // namespace

SOOTH_INTERCEPT(int, thrd_create, thrd_t* thread, thrd_start_t routine, void* argument) {
  Thread* t = current();
  if (t == nullptr) return real_thrd_create(thread, routine, argument);
  auto untyped = reinterpret_cast<void* (*)(void*)>(reinterpret_cast<void*>(routine));
  return result_of(create_thread(t, SOOTH_CALLER, thread, nullptr, untyped, argument, true));
}

SOOTH_INTERCEPT(int, thrd_join, thrd_t thread, int* result) {
  Thread* t = current();
  if (t == nullptr) return real_thrd_join(thread, result);
  void* value = nullptr;
  int error = join_thread(t, SOOTH_CALLER, thread, &value);
  if (error == 0 && result != nullptr) {
    *result = static_cast<int>(reinterpret_cast<uptr>(value));
    write_range(t, SOOTH_CALLER, sooth::Op::kWrite, address_of(result), sizeof *result);
  }
  return result_of(error);
}

SOOTH_INTERCEPT(int, thrd_detach, thrd_t thread) {
  Thread* t = current();
  return t == nullptr ? real_thrd_detach(thread) : result_of(detach_other_thread(t, thread));
}

SOOTH_INTERCEPT(int, mtx_init, mtx_t* mutex, int type) {
  if (Thread* t = current()) lock_initialised(t, SOOTH_CALLER, address_of(mutex));
  return real_mtx_init(mutex, type);
}

SOOTH_INTERCEPT(void, mtx_destroy, mtx_t* mutex) {
  if (Thread* t = current()) lock_destroyed(t, SOOTH_CALLER, address_of(mutex));
  real_mtx_destroy(mutex);
}

SOOTH_INTERCEPT(int, mtx_lock, mtx_t* mutex) {
  Thread* t = current();
  return t == nullptr ? real_mtx_lock(mutex) : result_of(lock_mutex(t, SOOTH_CALLER, posix(mutex)));
}

SOOTH_INTERCEPT(int, mtx_trylock, mtx_t* mutex) {
  Thread* t = current();
  return t == nullptr ? real_mtx_trylock(mutex) : result_of(try_lock_mutex(t, SOOTH_CALLER, posix(mutex)));
}

SOOTH_INTERCEPT(int, mtx_timedlock, mtx_t* mutex, const timespec* time) {
  Thread* t = current();
  return t == nullptr ? real_mtx_timedlock(mutex, time)
                      : result_of(timed_lock_mutex(t, SOOTH_CALLER, posix(mutex), time));
}

SOOTH_INTERCEPT(int, mtx_unlock, mtx_t* mutex) {
  Thread* t = current();
  return t == nullptr ? real_mtx_unlock(mutex) : result_of(unlock_mutex(t, SOOTH_CALLER, posix(mutex)));
}

SOOTH_INTERCEPT(int, cnd_wait, cnd_t* cond, mtx_t* mutex) {
  Thread* t = current();
  return t == nullptr ? real_cnd_wait(cond, mutex) : result_of(wait_cond(t, SOOTH_CALLER, posix(cond), posix(mutex)));
}

SOOTH_INTERCEPT(int, cnd_timedwait, cnd_t* cond, mtx_t* mutex, const timespec* time) {
  Thread* t = current();
  return t == nullptr ? real_cnd_timedwait(cond, mutex, time)
                      : result_of(timed_wait_cond(t, SOOTH_CALLER, posix(cond), posix(mutex), time));
}

SOOTH_INTERCEPT(int, cnd_signal, cnd_t* cond) {
  Thread* t = current();
  return t == nullptr ? real_cnd_signal(cond) : result_of(signal_cond(t, SOOTH_CALLER, posix(cond)));
}

SOOTH_INTERCEPT(int, cnd_broadcast, cnd_t* cond) {
  Thread* t = current();
  return t == nullptr ? real_cnd_broadcast(cond) : result_of(broadcast_cond(t, SOOTH_CALLER, posix(cond)));
}

SOOTH_INTERCEPT(void, call_once, once_flag* flag, void (*routine)()) {
  run_once(current(), SOOTH_CALLER, reinterpret_cast<pthread_once_t*>(flag), routine);
}
