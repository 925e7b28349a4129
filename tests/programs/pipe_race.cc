// The message is written after the byte has been sent through the pipe.
#include <unistd.h>

#include "harness.h"

int ends[2];
int message;

static void sender() {
  if (write(ends[1], "x", 1) != 1) {
    return;
  }
  message = 1;  // RACE(a)
}

static void receiver() {
  char byte;
  if (read(ends[0], &byte, 1) == 1) {
    message = 2;  // RACE(a)
  }
}

int main() {
  if (pipe(ends) != 0) {
    return 1;
  }
  run_threads(sender, receiver);
  close(ends[0]);
  close(ends[1]);
}
