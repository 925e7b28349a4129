// Two descriptors of one file: the counter is outside of its lock.
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
  flock(fd, LOCK_UN);
  ++message;  // RACE(a)
}

int main() {
  snprintf(name, sizeof name, "/tmp/sooth-flock-%d", getpid());
  close(open(name, O_CREAT | O_RDWR, 0600));
  run_threads(count, count);
  unlink(name);
}
