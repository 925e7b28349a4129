// Locks are initialised again behind their last use by another thread, but nothing orders the two.
// TSAN: skip, it is a data race to ThreadSanitizer
#include "harness.h"

pthread_mutex_t mutex;
pthread_rwlock_t lock;
int value;

void use() {
  pthread_mutex_lock(&mutex);
  ++value;
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  reach(1);
}

void initialise_again() {
  await(1);
  pthread_mutex_init(&mutex, nullptr);  // MISUSE(destroy)
  pthread_rwlock_init(&lock, nullptr);  // MISUSE(destroy)
}

int main() {
  pthread_mutex_init(&mutex, nullptr);
  pthread_rwlock_init(&lock, nullptr);
  run_threads(use, initialise_again);
}
