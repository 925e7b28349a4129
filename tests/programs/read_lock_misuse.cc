// A thread locks for reading what it has locked for writing: the lock refuses.
#include "harness.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
Apart result;

int main() {
  pthread_rwlock_wrlock(&lock);
  result.value = pthread_rwlock_rdlock(&lock);  // MISUSE(bad-read-lock)
  pthread_rwlock_unlock(&lock);
}
