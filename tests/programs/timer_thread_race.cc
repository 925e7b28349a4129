// A timer tells in a thread of its own, which writes what the first reads without waiting for more than a step.
// TSAN: skip, it does not know such threads
#include <signal.h>
#include <time.h>

#include "harness.h"

int before, message;
Apart copy;

static void told(sigval) {
  copy.value = before;
  message = 1;  // RACE(a)
  reach(1);
}

int main() {
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
  await(1);
  int seen = message;  // RACE(a)
  return seen == 1 ? 0 : 1;
}
