// A stream is closed when the other thread is done.
#include <stdio.h>

#include "harness.h"

FILE* file;

static void user() {
  fputs("text", file);
  reach(1);
}

int main() {
  file = tmpfile();
  pthread_t thread = start(user);
  join(thread);
  fclose(file);
}
