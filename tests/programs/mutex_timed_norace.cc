// A timed lock that is granted protects.
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
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 60;
  // A thread can be kept from running for longer than any deadline.
  while (pthread_mutex_timedlock(&mutex, &deadline) != 0) {
  }
  outcome = 1;
  value = 2;
  pthread_mutex_unlock(&mutex);
}

int main() {
  run_threads(holder, timed);
  printf("%d\n", outcome);
}
