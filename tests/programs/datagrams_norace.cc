// A datagram brings along what was written before.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"

int ends[2], data;

static void sender() {
  char byte = 1;
  data = 1;
  sendto(ends[0], &byte, 1, 0, nullptr, 0);
}

static void receiver() {
  char byte;
  recvfrom(ends[1], &byte, 1, 0, nullptr, nullptr);
  data = 2;
}

int main() {
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
  run_threads(sender, receiver);
}
