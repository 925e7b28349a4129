// A thread waits with epoll_wait, reads the byte and has the message.
#include <sys/epoll.h>
#include <unistd.h>

#include "harness.h"

int ends[2], waiting;
int message;

static void sender() {
  message = 1;
  if (write(ends[1], "x", 1) != 1) {
    return;
  }
}

static void receiver() {
  char byte;
  epoll_event event{};
  if (epoll_wait(waiting, &event, 1, -1) == 1 && read(event.data.fd, &byte, 1) == 1) {
    message = 2;
  }
}

int main() {
  if (pipe(ends) != 0) {
    return 1;
  }
  waiting = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = ends[0];
  epoll_ctl(waiting, EPOLL_CTL_ADD, ends[0], &event);
  run_threads(sender, receiver);
}
