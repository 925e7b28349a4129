// A mutex is destroyed behind its last use by another thread, but nothing orders the two.
// TSAN: skip, it is a data race to ThreadSanitizer
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value;

void use() {
  pthread_mutex_lock(&mutex);
  ++value;
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  reach(1);
}

void destroy() {
  await(1);
  pthread_mutex_destroy(&mutex);  // MISUSE(destroy)
  pthread_rwlock_destroy(&lock);  // MISUSE(destroy)
}

int main() {
  run_threads(use, destroy);
}
