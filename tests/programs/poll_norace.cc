// poll and select, then the read that gets the byte.
// TSAN: some, select is not among what it knows
#include <poll.h>
#include <sys/select.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart messages[2];

static void sender() {
  messages[0].value = 1;
  messages[1].value = 1;
  if (write(ends[1], "xy", 2) != 2) {
    return;
  }
}

static void receiver() {
  char byte;
  pollfd waiting{ends[0], POLLIN, 0};
  if (poll(&waiting, 1, -1) == 1 && read(ends[0], &byte, 1) == 1) {
    messages[0].value = 2;
  }
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(ends[0], &readable);
  if (select(ends[0] + 1, &readable, nullptr, nullptr, nullptr) == 1 && read(ends[0], &byte, 1) == 1) {
    messages[1].value = 2;
  }
}

int main() {
  if (pipe(ends) != 0) {
    return 1;
  }
  run_threads(sender, receiver);
}
