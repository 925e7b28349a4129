// The timed functions of a read-write lock are granted.
// TSAN: some, it does not know the clock functions and remembers few accesses to a word
// OUTPUT: 4
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

constexpr int kOutcome = 0, kPatience = 60;

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, copy, outcomes;

static timespec deadline(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  now.tv_sec += kPatience;
  return now;
}

static void after(int status) {
  outcomes += status == kOutcome;
  if (status == 0) {
    pthread_rwlock_unlock(&lock);
  }
}

static void holder() {
  pthread_rwlock_wrlock(&lock);
  value = 1;
  pthread_rwlock_unlock(&lock);
}

static void timed() {
  timespec real = deadline(CLOCK_REALTIME), monotonic = deadline(CLOCK_MONOTONIC);
  int status = pthread_rwlock_timedrdlock(&lock, &real);
  copy = value;
  after(status);
  status = pthread_rwlock_timedwrlock(&lock, &real);
  value = 2;
  after(status);
  status = pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &monotonic);
  copy = value;
  after(status);
  status = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &monotonic);
  value = 3;
  after(status);
}

int main() {
  run_threads(holder, timed);
  printf("%d\n", outcomes);
}
