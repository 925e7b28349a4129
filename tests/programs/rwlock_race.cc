// Two readers of a read-write lock, and one of them writes.
#include "harness.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, copies[2];

static void reader() {
  pthread_rwlock_rdlock(&lock);
  copies[0] = value;  // RACE(a)
  pthread_rwlock_unlock(&lock);
}

static void writer() {
  pthread_rwlock_rdlock(&lock);
  value = 1;  // RACE(a)
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  copies[1] = value;
  pthread_rwlock_unlock(&lock);
}

int main() {
  run_threads(reader, writer);
}
