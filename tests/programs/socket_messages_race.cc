// sendmsg and recvmsg: what is written behind the message does not go with it.
#include <sys/socket.h>
#include <sys/uio.h>

#include "harness.h"

int ends[2], data;

static void sender() {
  char byte = 1;
  iovec part = {&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  sendmsg(ends[0], &message, 0);
  data = 1;  // RACE(a)
}

static void receiver() {
  char byte;
  iovec part = {&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  recvmsg(ends[1], &message, 0);
  data = 2;  // RACE(a)
}

int main() {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  run_threads(sender, receiver);
}
