// eventfd_write and eventfd_read hand over what was written before.
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness.h"

int event, data;

static void sender() {
  data = 1;
  eventfd_write(event, 1);
}

static void receiver() {
  eventfd_t count;
  eventfd_read(event, &count);
  data = 2;
}

int main() {
  event = eventfd(0, 0);
  run_threads(sender, receiver);
  close(event);
}
