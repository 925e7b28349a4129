// Addresses, options and messages of sockets are read and written, and is looked at behind the join.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"

sockaddr_in bound;
alignas(64) sockaddr_in here;
alignas(64) socklen_t length = sizeof here;
alignas(64) sockaddr_in there;
alignas(64) int kind;
alignas(64) char parts[4];
Apart copy, result;

static void worker() {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  bound.sin_family = AF_INET;
  result.value = bind(fd, reinterpret_cast<sockaddr*>(&bound), sizeof bound);
  result.value += getsockname(fd, reinterpret_cast<sockaddr*>(&here), &length);
  socklen_t n = sizeof kind;
  result.value += getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &n);
  result.value += static_cast<int>(sendto(fd, "ab", 2, 0, reinterpret_cast<sockaddr*>(&here), sizeof here));
  iovec part = {parts, sizeof parts};
  msghdr message = {};
  message.msg_name = &there;
  message.msg_namelen = sizeof there;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  result.value += static_cast<int>(recvmsg(fd, &message, 0));
  close(fd);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  bound.sin_port = 1;
  bound.sin_family = 0;
  copy.value = here.sin_family;
  copy.value += static_cast<int>(length);
  copy.value += kind;
  copy.value += there.sin_family;
}
