// A spin lock with annotations, which waits without a call that could be seen. The value is written outside.
// FOUND(a): syncp
#include "annotations.h"
#include "harness.h"

int taken, value;

static void lock() {
  __tsan_mutex_pre_lock(&taken, 0);
  while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE) != 0) {
  }
  __tsan_mutex_post_lock(&taken, 0, 0);
}

static void unlock() {
  __tsan_mutex_pre_unlock(&taken, 0);
  __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
  __tsan_mutex_post_unlock(&taken, 0);
}

static void first() {
  value = 1;  // RACE(a)
  lock();
  unlock();
}

static void second() {
  lock();
  unlock();
  value = 2;  // RACE(a)
}

int main() {
  __tsan_mutex_create(&taken, __tsan_mutex_linker_init);
  run_threads(first, second);
  lock();
  // Means nothing: a lock that needs no constructor needs no destructor.
  __tsan_mutex_destroy(&taken, __tsan_mutex_linker_init);
  unlock();
}
