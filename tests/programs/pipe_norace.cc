// The message is written before the byte is sent through the pipe.
#include <unistd.h>

#include "harness.h"

int ends[2];
int message;

static void sender() {
  message = 1;
  if (write(ends[1], "x", 1) != 1) {
    return;
  }
}

static void receiver() {
  char byte;
  if (read(ends[0], &byte, 1) == 1) {
    message = 2;
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
