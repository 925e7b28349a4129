// Through readiness alone, which poll() tells of: the message is written after it was handed over.
// TSAN: skip, it orders by the read only
#include <poll.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
int message;

static void sender() {
  if (write(ends[1], "x", 1) != 1) return;
  message = 1;  // RACE(a)
}

static void receiver() {
  pollfd input = {ends[0], POLLIN, 0};
  poll(&input, 1, -1);
  message = 2;  // RACE(a)
}

int main() {
  if (pipe(ends) != 0) return 1;
  run_threads(sender, receiver);
}
