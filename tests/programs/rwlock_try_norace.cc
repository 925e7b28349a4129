// The try functions of a read-write lock, until they succeed.
// TSAN: some, it remembers few accesses to a word
#include "harness.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, copy;

static void holder() {
  pthread_rwlock_wrlock(&lock);
  reach(1);
  value = 1;
  pthread_rwlock_unlock(&lock);
}

static void trier() {
  await(1);
  while (pthread_rwlock_tryrdlock(&lock) != 0) {
    sched_yield();
  }
  copy = value;
  pthread_rwlock_unlock(&lock);
  while (pthread_rwlock_trywrlock(&lock) != 0) {
    sched_yield();
  }
  value = 2;
  pthread_rwlock_unlock(&lock);
}

int main() {
  run_threads(holder, trier);
}
