// The waiter reads after it has given the mutex back, while the signaller writes again.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready, value, copy;

static void waiter() {
  pthread_mutex_lock(&mutex);
  while (ready == 0) {
    pthread_cond_wait(&condition, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  copy = value;  // RACE(a)
}

static void signaller() {
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  value = 1;  // RACE(a)
}

int main() {
  run_threads(waiter, signaller);
}
