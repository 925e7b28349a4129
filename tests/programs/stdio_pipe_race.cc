// Through a pipe under streams of stdio: the message is written after it was handed over.
// TSAN: skip, it does not know this way
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

FILE *in, *out;
int message;

static void sender() {
  fputs("go\n", out);
  fflush(out);
  message = 1;  // RACE(a)
}

static void receiver() {
  char line[8];
  if (fgets(line, sizeof line, in) == nullptr) return;
  message = 2;  // RACE(a)
}

int main() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  in = fdopen(ends[0], "r");
  out = fdopen(ends[1], "w");
  run_threads(sender, receiver);
  fclose(in);
  fclose(out);
}
