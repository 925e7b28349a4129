// A stream is closed while another thread may still write to it.
#include <stdio.h>

#include "harness.h"

FILE* file;

static void user() {
  fputs("text", file);  // RACE(a)
  reach(1);
}

int main() {
  file = tmpfile();
  pthread_t thread = start(user);
  await(1);
  fclose(file);  // RACE(a)
  join(thread);
}
