// Through a file that the receiver reads again and again: the message is written before it is handed over.
// TSAN: skip, it does not know this way
#include <fcntl.h>
#include <stdio.h>
#include <sched.h>
#include <unistd.h>

#include "harness.h"

char name[64];
int message;

static void sender() {
  message = 1;
  int fd = open(name, O_WRONLY);
  if (write(fd, "x", 1) != 1) return;
  close(fd);
}

static void receiver() {
  int fd = open(name, O_RDONLY);
  for (char byte; read(fd, &byte, 1) != 1;) sched_yield();
  close(fd);
  message = 2;
}

int main() {
  snprintf(name, sizeof name, "/tmp/sooth-contents-%d", getpid());
  close(open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600));
  run_threads(sender, receiver);
  unlink(name);
}
