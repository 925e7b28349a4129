// Through a timer that one thread sets and the other waits for: the message is written before it is handed over.
// TSAN: skip, it does not know this way
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "harness.h"

int timer;
int message;

static void sender() {
  message = 1;
  itimerspec soon = {{0, 0}, {0, 1000}};
  timerfd_settime(timer, 0, &soon, nullptr);
}

static void receiver() {
  uint64_t count;
  if (read(timer, &count, sizeof count) != sizeof count) return;
  message = 2;
}

int main() {
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  run_threads(sender, receiver);
  close(timer);
}
