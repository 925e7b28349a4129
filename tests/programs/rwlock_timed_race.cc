// The timed functions of a read-write lock time out and protect nothing.
// TSAN: some, it does not know the clock functions and remembers few accesses to a word
// OUTPUT: 4
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

constexpr int kOutcome = ETIMEDOUT, kPatience = 0;

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
  reach(1);
  await(2);
  value = 1;  // RACE(a) RACE(b) RACE(c) RACE(d)
  pthread_rwlock_unlock(&lock);
}

static void timed() {
  await(1);
  timespec real = deadline(CLOCK_REALTIME), monotonic = deadline(CLOCK_MONOTONIC);
  int status = pthread_rwlock_timedrdlock(&lock, &real);
  copy = value;  // RACE(a)
  after(status);
  status = pthread_rwlock_timedwrlock(&lock, &real);
  value = 2;  // RACE(b)
  after(status);
  status = pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &monotonic);
  copy = value;  // RACE(c)
  after(status);
  status = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &monotonic);
  value = 3;  // RACE(d)
  after(status);
  reach(2);
}

int main() {
  run_threads(holder, timed);
  printf("%d\n", outcomes);
}
