// eventfd_write before the rest is written.
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness.h"

int event, data;

static void sender() {
  eventfd_write(event, 1);
  data = 1;  // RACE(a)
}

static void receiver() {
  eventfd_t count;
  eventfd_read(event, &count);
  data = 2;  // RACE(a)
}

int main() {
  event = eventfd(0, 0);
  run_threads(sender, receiver);
  close(event);
}
