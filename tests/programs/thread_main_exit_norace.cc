// The main thread ends with pthread_exit; the other touches only what was written before it was created.
// TSAN: skip, it does not end
// OUTPUT: 3
#include <stdio.h>

#include "harness.h"

int value = 1;

static void child() {
  value += 1;
  printf("%d\n", value);
}

int main() {
  value = 2;
  start(child);
  pthread_exit(nullptr);
}
