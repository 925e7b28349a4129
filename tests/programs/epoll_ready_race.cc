// Through readiness alone, which epoll_wait() tells of: the message is written after it was handed over.
// TSAN: skip, it orders by the read only
#include <sys/epoll.h>
#include <unistd.h>

#include "harness.h"

int ends[2], set;
int message;

static void sender() {
  if (write(ends[1], "x", 1) != 1) return;
  message = 1;  // RACE(a)
}

static void receiver() {
  epoll_event event;
  epoll_wait(set, &event, 1, -1);
  message = 2;  // RACE(a)
}

int main() {
  if (pipe(ends) != 0) return 1;
  set = epoll_create1(0);
  epoll_event wanted = {};
  wanted.events = EPOLLIN;
  wanted.data.fd = ends[0];
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted);
  run_threads(sender, receiver);
}
