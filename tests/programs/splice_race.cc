// Through two pipes that splice() joins: the message is written after it was handed over.
// TSAN: skip, it does not know this way
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

int first[2], second[2];
int message;

static void sender() {
  if (write(first[1], "x", 1) != 1) return;
  message = 1;  // RACE(a)
}

static void receiver() {
  char byte;
  if (read(second[0], &byte, 1) != 1) return;
  message = 2;  // RACE(a)
}

int main() {
  if (pipe(first) != 0 || pipe(second) != 0) return 1;
  pthread_t joiner = start([] { splice(first[0], nullptr, second[1], nullptr, 1, 0); });
  run_threads(sender, receiver);
  join(joiner);
}
