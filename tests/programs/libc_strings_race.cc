// strlen, strcpy, strncpy, strcmp, strchr and strdup read and write what another thread writes.
// OUTPUT: 5 5
// FLAGS: -fno-builtin
// TSAN: some, it does not look into strdup
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

char measured[16] = "hello", copied[16], bounded[16], compared[16] = "hello", searched[16] = "hello";
char duplicated[16] = "hello";
size_t lengths[2];

static void caller() {
  lengths[0] = strlen(measured);                        // RACE(a)
  strcpy(copied, "hello");                              // RACE(b)
  strncpy(bounded, "hello", 6);                         // RACE(c)
  lengths[1] = strcmp(compared, "hello") == 0 ? 5 : 0;  // RACE(d)
  lengths[1] += strchr(searched, 'z') != nullptr;       // RACE(e)
  char* copy = strdup(duplicated);                      // RACE(f)
  free(copy);
  reach(1);
}

static void writer() {
  await(1);
  measured[0] = 'j';    // RACE(a)
  copied[5] = 0;        // RACE(b)
  bounded[5] = 0;       // RACE(c)
  compared[0] = 'j';    // RACE(d)
  searched[5] = 0;      // RACE(e)
  duplicated[0] = 'j';  // RACE(f)
}

int main() {
  run_threads(caller, writer);
  printf("%zu %zu\n", lengths[0], lengths[1]);
}
