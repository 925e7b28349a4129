// Through readiness alone, which select() tells of: the message is written after it was handed over.
// TSAN: skip, it orders by the read only
#include <sys/select.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
int message;

static void sender() {
  if (write(ends[1], "x", 1) != 1) return;
  message = 1;  // RACE(a)
}

static void receiver() {
  fd_set input;
  FD_ZERO(&input);
  FD_SET(ends[0], &input);
  select(ends[0] + 1, &input, nullptr, nullptr, nullptr);
  message = 2;  // RACE(a)
}

int main() {
  if (pipe(ends) != 0) return 1;
  run_threads(sender, receiver);
}
