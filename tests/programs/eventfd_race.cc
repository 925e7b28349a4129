// The message is written after the eventfd has been signalled.
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness.h"

int event;
int message;

static void sender() {
  eventfd_write(event, 1);
  message = 1;  // RACE(a)
}

static void receiver() {
  uint64_t count = 0;
  if (read(event, &count, sizeof count) == sizeof count) {
    message = 2;  // RACE(a)
  }
}

int main() {
  event = eventfd(0, 0);
  run_threads(sender, receiver);
  close(event);
}
