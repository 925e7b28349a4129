// Threads that ask again and again without waiting: poll, select and epoll with no time to wait, reads and accepts that do not block.
// OUTPUT: abcd
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

int pipes[4][2];
int listener;
sockaddr_in address{};

static char take(int fd) {
  char c = '?';
  return read(fd, &c, 1) == 1 ? c : '?';
}

static char poll_for(int fd) {
  pollfd asked = {fd, POLLIN, 0};
  while (poll(&asked, 1, 0) == 0) {
  }
  return take(fd);
}

static char select_for(int fd) {
  for (;;) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    timeval none = {0, 0};
    if (select(fd + 1, &set, nullptr, nullptr, &none) == 1) {
      return take(fd);
    }
  }
}

static char epoll_for(int fd) {
  int epoll = epoll_create1(0);
  epoll_event event = {EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  while (epoll_wait(epoll, &event, 1, 0) == 0) {
  }
  close(epoll);
  return take(fd);
}

static char read_for(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  char c = '?';
  while (read(fd, &c, 1) != 1 && errno == EAGAIN) {
  }
  return c;
}

static void ask() {
  int connection;
  while ((connection = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) < 0 && errno == EAGAIN) {
  }
  close(connection);
  char got[] = {poll_for(pipes[0][0]), select_for(pipes[1][0]), epoll_for(pipes[2][0]), read_for(pipes[3][0]), 0};
  puts(got);
}

static void answer() {
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address);
  for (int i = 0; i < 4; ++i) {
    usleep(100);
    char c = static_cast<char>('a' + i);
    if (write(pipes[i][1], &c, 1) != 1) {
      return;
    }
  }
  close(connection);
}

int main() {
  for (int* ends : pipes) {
    if (pipe(ends) != 0) {
      return 1;
    }
  }
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(listener, 1);
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  run_threads(ask, answer);
}
