// Both threads write after the barrier.
// OUTPUT: 1 serial
#include <stdio.h>

#include "harness.h"

pthread_barrier_t barrier;
int value, serial[2];

static void first() {
  serial[0] = pthread_barrier_wait(&barrier);
  value = 1;  // RACE(a)
}

static void second() {
  serial[1] = pthread_barrier_wait(&barrier);
  value = 2;  // RACE(a)
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 2);
  run_threads(first, second);
  pthread_barrier_destroy(&barrier);
  int count = (serial[0] == PTHREAD_BARRIER_SERIAL_THREAD) + (serial[1] == PTHREAD_BARRIER_SERIAL_THREAD);
  printf("%d serial\n", count);
}
