// A read-write lock is used behind its end, and made again.
#include "harness.h"

pthread_rwlock_t lock;

int main() {
  pthread_rwlock_init(&lock, nullptr);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_destroy(&lock);
  pthread_rwlock_wrlock(&lock);  // MISUSE(invalid-use)
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_init(&lock, nullptr);
  pthread_rwlock_wrlock(&lock);
  pthread_rwlock_unlock(&lock);
}
