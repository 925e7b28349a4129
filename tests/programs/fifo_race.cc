// Bytes through a named pipe, sent before the rest is written.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

char path[64];
int data;

static void sender() {
  int fd = open(path, O_WRONLY);
  if (write(fd, "x", 1) != 1) return;
  data = 1;  // RACE(a)
  close(fd);
}

static void receiver() {
  int fd = open(path, O_RDONLY);
  char byte;
  if (read(fd, &byte, 1) != 1) return;
  data = 2;  // RACE(a)
  close(fd);
}

int main() {
  snprintf(path, sizeof path, "/tmp/sooth_fifo_%d", getpid());
  if (mkfifo(path, 0600) != 0) return 1;
  run_threads(sender, receiver);
  unlink(path);
}
