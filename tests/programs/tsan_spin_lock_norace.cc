// A spin lock with annotations, which waits without a call that could be seen.
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
  lock();
  value = 1;
  unlock();
}

static void second() {
  lock();
  value = 2;
  unlock();
}

int main() {
  __tsan_mutex_create(&taken, __tsan_mutex_linker_init);
  run_threads(first, second);
  lock();
  // Means nothing: a lock that needs no constructor needs no destructor.
  __tsan_mutex_destroy(&taken, __tsan_mutex_linker_init);
  unlock();
}
