// pthread_cond_clockwait under its mutex.
// TSAN: skip, it does not know pthread_cond_clockwait
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, data;

static void waiter() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += 60;
  pthread_mutex_lock(&mutex);
  while (ready == 0) pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &time);
  pthread_mutex_unlock(&mutex);
  data = 1;
  reach(1);
}

static void notifier() {
  data = 2;
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&changed);
}

int main() { run_threads(waiter, notifier); }
