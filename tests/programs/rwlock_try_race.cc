// The try functions of a read-write lock fail, and the thread goes on.
// TSAN: some, it remembers few accesses to a word
#include "harness.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, copy;

static void holder() {
  pthread_rwlock_wrlock(&lock);
  reach(1);
  await(2);
  value = 1;  // RACE(a) RACE(b)
  pthread_rwlock_unlock(&lock);
}

static void trier() {
  await(1);
  if (pthread_rwlock_tryrdlock(&lock) != 0) {
    copy = value;  // RACE(a)
  }
  if (pthread_rwlock_trywrlock(&lock) != 0) {
    value = 2;  // RACE(b)
  }
  reach(2);
}

int main() {
  run_threads(holder, trier);
}
