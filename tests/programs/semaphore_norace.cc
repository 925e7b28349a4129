// A semaphore passes messages: sem_wait, sem_trywait, sem_timedwait and sem_clockwait.
// TSAN: some, it does not know sem_clockwait
// OUTPUT: 4
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

constexpr int kPatience = 60, kOutcome = 0;

sem_t semaphore;
Apart messages[4];
int copy, outcomes;

static timespec deadline(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += kPatience;
  return time;
}

static void poster() {
  messages[0].value = 1;
  sem_post(&semaphore);
  messages[1].value = 1;
  sem_post(&semaphore);
  messages[2].value = 1;
  sem_post(&semaphore);
  messages[3].value = 1;
  sem_post(&semaphore);
}

static void waiter() {
  outcomes += sem_wait(&semaphore) == 0;
  copy = messages[0].value;
  while (sem_trywait(&semaphore) != 0) {
    sched_yield();
  }
  ++outcomes;
  copy = messages[1].value;
  timespec real = deadline(CLOCK_REALTIME), monotonic = deadline(CLOCK_MONOTONIC);
  // A thread can be kept from running for longer than any time-out.
  while (sem_timedwait(&semaphore, &real) != kOutcome) {
  }
  ++outcomes;
  copy = messages[2].value;
  while (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &monotonic) != kOutcome) {
  }
  ++outcomes;
  copy = messages[3].value;
}

int main() {
  sem_init(&semaphore, 0, 0);
  run_threads(poster, waiter);
  sem_destroy(&semaphore);
  printf("%d\n", outcomes);
}
