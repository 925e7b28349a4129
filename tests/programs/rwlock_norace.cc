// A writer and readers of a read-write lock.
#include "harness.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, copies[2];

static void reader() {
  pthread_rwlock_rdlock(&lock);
  copies[0] = value;
  pthread_rwlock_unlock(&lock);
}

static void writer() {
  pthread_rwlock_wrlock(&lock);
  value = 1;
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  copies[1] = value;
  pthread_rwlock_unlock(&lock);
}

int main() {
  run_threads(reader, writer);
}
