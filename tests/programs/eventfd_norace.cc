// The message is written before the eventfd is signalled.
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness.h"

int event;
int message;

static void sender() {
  message = 1;
  eventfd_write(event, 1);
}

static void receiver() {
  uint64_t count = 0;
  if (read(event, &count, sizeof count) == sizeof count) {
    message = 2;
  }
}

int main() {
  event = eventfd(0, 0);
  run_threads(sender, receiver);
  close(event);
}
