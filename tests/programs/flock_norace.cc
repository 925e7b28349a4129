// Two descriptors of one file: its lock excludes threads.
// TSAN: skip, it does not know this way
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "harness.h"

char name[64];
int message;

static void count() {
  int fd = open(name, O_RDWR);
  flock(fd, LOCK_EX);
  ++message;
  flock(fd, LOCK_UN);
}

int main() {
  snprintf(name, sizeof name, "/tmp/sooth-flock-%d", getpid());
  close(open(name, O_CREAT | O_RDWR, 0600));
  run_threads(count, count);
  unlink(name);
}
