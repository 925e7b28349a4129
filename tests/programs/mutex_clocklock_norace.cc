// pthread_mutex_clocklock that is granted protects.
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
  value = 1;
  pthread_mutex_unlock(&mutex);
}

static void timed() {
  timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += 60;
  outcome = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == 0;
  if (outcome == 0) return;  // a schedule may keep the holder from running for a minute
  value = 2;
  pthread_mutex_unlock(&mutex);
}

int main() {
  run_threads(holder, timed);
  printf("%d\n", outcome);
}
