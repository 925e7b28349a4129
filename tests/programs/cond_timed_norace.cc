// Timed waits, on the real-time and the monotonic clock: signalled in time, and timed out with the mutex held again.
// OUTPUT: 3 timeouts, signalled
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
  reach(1);
  timespec later = soon(CLOCK_MONOTONIC, 60);
  while (ready == 0) {
    if (pthread_cond_timedwait(&monotonic_condition, &mutex, &later) == ETIMEDOUT) {
      break;
    }
  }
  value = 1;
  pthread_mutex_unlock(&mutex);
}

static void other() {
  await(1);
  pthread_mutex_lock(&mutex);
  value = 2;
  ready = 1;
  pthread_cond_signal(&monotonic_condition);
  pthread_mutex_unlock(&mutex);
}

int main() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic_condition, &attributes);
  run_threads(waiter, other);
  printf("%d timeouts, %s\n", timeouts, ready == 1 ? "signalled" : "too late");
}
