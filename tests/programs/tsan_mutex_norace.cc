// A hand-made lock with the mutex annotations: locked, and tried until it succeeds.
#include "annotations.h"
#include "harness.h"

int taken, value;

static bool try_lock() {
  __tsan_mutex_pre_lock(&taken, __tsan_mutex_try_lock);
  bool success = __atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) == 0;
  __tsan_mutex_post_lock(&taken, __tsan_mutex_try_lock | (success ? 0 : __tsan_mutex_try_lock_failed), 0);
  return success;
}

static void lock() {
  __tsan_mutex_pre_lock(&taken, 0);
  while (__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) != 0) {
    sched_yield();
  }
  __tsan_mutex_post_lock(&taken, 0, 0);
}

static void unlock() {
  __tsan_mutex_pre_unlock(&taken, 0);
  __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
  __tsan_mutex_post_unlock(&taken, 0);
}

static void locker() {
  lock();
  reach(1);
  value = 1;
  unlock();
}

static void trier() {
  await(1);
  while (!try_lock()) {
    sched_yield();
  }
  value = 2;
  unlock();
}

int main() {
  __tsan_mutex_create(&taken, 0);
  run_threads(locker, trier);
  __tsan_mutex_destroy(&taken, 0);
}
