// A timer tells in a thread of its own: it comes behind whoever set the timer, and is waited for by a semaphore.
// TSAN: skip, it does not know such threads
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "harness.h"

int before, message;
sem_t done;
Apart copy;

static void told(sigval) {
  copy.value = before;
  message = 1;
  sem_post(&done);
}

int main() {
  sem_init(&done, 0, 0);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = told;
  timer_t timer;
  before = 1;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  before = 2;
  itimerspec soon = {};
  soon.it_value.tv_nsec = 1'000'000;
  timer_settime(timer, 0, &soon, nullptr);
  sem_wait(&done);
  int seen = message;
  return seen == 1 ? 0 : 1;
}
