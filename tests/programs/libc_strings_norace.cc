// The same calls; another thread writes behind the ends of the strings.
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
  lengths[0] = strlen(measured);
  strcpy(copied, "hello");
  strncpy(bounded, "hello", 6);
  lengths[1] = strcmp(compared, "hello") == 0 ? 5 : 0;
  lengths[1] += strchr(searched, 'z') != nullptr;
  char* copy = strdup(duplicated);
  free(copy);
}

static void writer() {
  measured[6] = copied[6] = bounded[6] = compared[6] = searched[6] = duplicated[6] = 'j';
}

int main() {
  run_threads(caller, writer);
  printf("%zu %zu\n", lengths[0], lengths[1]);
}
