// A wait that takes the initial value of a semaphore receives nothing, nor do those that fail.
// TSAN: some, it does not know sem_clockwait
// OUTPUT: 4
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

constexpr int kPatience = 0, kOutcome = -1;

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
  await(1);
  messages[0].value = 1;  // RACE(a)
  sem_post(&semaphore);
  messages[1].value = 1;  // RACE(b)
  sem_post(&semaphore);
  messages[2].value = 1;  // RACE(c)
  sem_post(&semaphore);
  messages[3].value = 1;  // RACE(d)
  sem_post(&semaphore);
}

static void waiter() {
  outcomes += sem_wait(&semaphore) == 0;
  copy = messages[0].value;  // RACE(a)
  outcomes += sem_trywait(&semaphore) == -1;
  copy = messages[1].value;  // RACE(b)
  timespec real = deadline(CLOCK_REALTIME), monotonic = deadline(CLOCK_MONOTONIC);
  outcomes += sem_timedwait(&semaphore, &real) == kOutcome;
  copy = messages[2].value;  // RACE(c)
  outcomes += sem_clockwait(&semaphore, CLOCK_MONOTONIC, &monotonic) == kOutcome;
  copy = messages[3].value;  // RACE(d)
  reach(1);
}

int main() {
  sem_init(&semaphore, 0, 1);
  run_threads(poster, waiter);
  sem_destroy(&semaphore);
  printf("%d\n", outcomes);
}
