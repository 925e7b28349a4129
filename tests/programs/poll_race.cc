// poll and select say that there is something to read, not that the message is written.
// TSAN: some, select is not among what it knows
#include <poll.h>
#include <sys/select.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart messages[2];

static void sender() {
  if (write(ends[1], "xy", 2) != 2) {
    return;
  }
  messages[0].value = 1;  // RACE(a)
  messages[1].value = 1;  // RACE(b)
}

static void receiver() {
  char byte;
  pollfd waiting{ends[0], POLLIN, 0};
  if (poll(&waiting, 1, -1) == 1 && read(ends[0], &byte, 1) == 1) {
    messages[0].value = 2;  // RACE(a)
  }
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(ends[0], &readable);
  if (select(ends[0] + 1, &readable, nullptr, nullptr, nullptr) == 1 && read(ends[0], &byte, 1) == 1) {
    messages[1].value = 2;  // RACE(b)
  }
}

int main() {
  if (pipe(ends) != 0) {
    return 1;
  }
  run_threads(sender, receiver);
}
