// Everybody is woken and writes the same variable, under the mutex.
// OUTPUT: 3
#include <stdio.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready, waiting, last, woken;

static void waiter() {
  pthread_mutex_lock(&mutex);
  ++waiting;
  while (ready == 0) {
    pthread_cond_wait(&condition, &mutex);
  }
  ++woken;
  last = 1;
  pthread_mutex_unlock(&mutex);
}

int main() {
  pthread_t threads[3] = {start(waiter), start(waiter), start(waiter)};
  pthread_mutex_lock(&mutex);
  while (waiting < 3) {
    pthread_mutex_unlock(&mutex);
    sched_yield();
    pthread_mutex_lock(&mutex);
  }
  ready = 1;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  for (pthread_t thread : threads) {
    join(thread);
  }
  printf("%d\n", woken);
}
