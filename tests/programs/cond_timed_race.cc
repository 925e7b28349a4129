// A timed wait that times out receives nothing from the signal that came before it.
// OUTPUT: 3 timeouts
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_cond_t monotonic_condition;
int value, ready, timeouts;

static timespec soon(clockid_t clock, int seconds) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  return time;
}

static void waiter() {
  await(1);
  pthread_mutex_lock(&mutex);
  timespec real = soon(CLOCK_REALTIME, 0), monotonic = soon(CLOCK_MONOTONIC, 0);
  while (pthread_cond_timedwait(&condition, &mutex, &real) != ETIMEDOUT) {
  }
  ++timeouts;
  while (pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &monotonic) != ETIMEDOUT) {
  }
  ++timeouts;
  while (pthread_cond_timedwait(&monotonic_condition, &mutex, &monotonic) != ETIMEDOUT) {
  }
  ++timeouts;
  value = 1;  // RACE(a)
  pthread_mutex_unlock(&mutex);
}

static void other() {
  value = 2;  // RACE(a)
  pthread_cond_signal(&condition);
  pthread_cond_signal(&monotonic_condition);
  reach(1);
}

int main() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic_condition, &attributes);
  run_threads(waiter, other);
  printf("%d timeouts\n", timeouts);
}
