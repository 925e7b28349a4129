// pthread_cond_clockwait times out, and the caller goes on as if it had been notified.
// TSAN: skip, it does not know pthread_cond_clockwait
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, data;

static void waiter() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  pthread_mutex_lock(&mutex);
  if (ready == 0) pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &time);
  pthread_mutex_unlock(&mutex);
  data = 1;  // RACE(a)
  reach(1);
}

static void notifier() {
  await(1);
  data = 2;  // RACE(a)
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&changed);
}

int main() { run_threads(waiter, notifier); }
