// Through a file that the receiver looks for: the message is written after it was handed over.
// TSAN: skip, it does not know this way
#include <fcntl.h>
#include <stdio.h>
#include <sched.h>
#include <unistd.h>

#include "harness.h"

char name[64];
int message;

static void sender() {
  close(open(name, O_CREAT | O_WRONLY, 0600));
  message = 1;  // RACE(a)
}

static void receiver() {
  while (access(name, F_OK) != 0) sched_yield();
  message = 2;  // RACE(a)
}

int main() {
  snprintf(name, sizeof name, "/tmp/sooth-polled-%d", getpid());
  unlink(name);
  run_threads(sender, receiver);
  unlink(name);
}
