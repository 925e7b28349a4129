// The message is written after the bytes have been sent through the socket.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart messages[3];

static void sender() {
  char byte = 'x';
  iovec vector{&byte, 1};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  send(ends[0], &byte, 1, 0);
  messages[0].value = 1;  // RACE(a)
  await(1);
  sendmsg(ends[0], &header, 0);
  messages[1].value = 1;  // RACE(b)
  await(2);
  if (writev(ends[0], &vector, 1) != 1) {
    return;
  }
  messages[2].value = 1;  // RACE(c)
}

static void receiver() {
  char byte = 0;
  iovec vector{&byte, 1};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  recv(ends[1], &byte, 1, 0);
  messages[0].value = 2;  // RACE(a)
  reach(1);
  recvmsg(ends[1], &header, 0);
  messages[1].value = 2;  // RACE(b)
  reach(2);
  if (readv(ends[1], &vector, 1) == 1) {
    messages[2].value = 2;  // RACE(c)
  }
}

int main() {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 1;
  }
  run_threads(sender, receiver);
  close(ends[0]);
  close(ends[1]);
}
