// pthread_mutex_clocklock that times out protects nothing.
// TSAN: skip, it does not know pthread_mutex_clocklock
// OUTPUT: 1
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value, outcome;

static void holder() {
  pthread_mutex_lock(&mutex);
  reach(1);
  await(2);
  value = 1;  // RACE(a)
  pthread_mutex_unlock(&mutex);
}

static void timed() {
  await(1);
  timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  outcome = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT;
  value = 2;  // RACE(a)
  reach(2);
}

int main() {
  run_threads(holder, timed);
  printf("%d\n", outcome);
}
