// Through readiness alone, which poll() tells of: the message is written before it is handed over.
// TSAN: skip, it orders by the read only
#include <poll.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
int message;

static void sender() {
  message = 1;
  if (write(ends[1], "x", 1) != 1) return;
}

static void receiver() {
  pollfd input = {ends[0], POLLIN, 0};
  poll(&input, 1, -1);
  message = 2;
}

int main() {
  if (pipe(ends) != 0) return 1;
  run_threads(sender, receiver);
}
