// Addresses, options and messages of sockets are read and written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
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
  bound.sin_family = AF_INET;  // RACE(f)
  result.value = bind(fd, reinterpret_cast<sockaddr*>(&bound), sizeof bound);  // RACE(a) RACE(g)
  result.value += getsockname(fd, reinterpret_cast<sockaddr*>(&here), &length);  // RACE(b) RACE(c)
  socklen_t n = sizeof kind;
  result.value += getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &n);  // RACE(d)
  result.value += static_cast<int>(sendto(fd, "ab", 2, 0, reinterpret_cast<sockaddr*>(&here), sizeof here));
  iovec part = {parts, sizeof parts};
  msghdr message = {};
  message.msg_name = &there;
  message.msg_namelen = sizeof there;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  result.value += static_cast<int>(recvmsg(fd, &message, 0));  // RACE(e)
  close(fd);
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  bound.sin_port = 1;  // RACE(a)
  bound.sin_family = 0;  // RACE(f) RACE(g)
  copy.value = here.sin_family;  // RACE(b)
  copy.value += static_cast<int>(length);  // RACE(c)
  copy.value += kind;  // RACE(d)
  copy.value += there.sin_family;  // RACE(e)
  join(thread);
}
