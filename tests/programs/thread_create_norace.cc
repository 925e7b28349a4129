// The parent writes before it creates the thread and reads after it has joined it.
// OUTPUT: 2
#include <stdio.h>

#include "harness.h"

int value, ready;

static void child() {
  value = 2;
}

int main() {
  value = 1;
  pthread_t thread = start(child);
  join(thread);
  printf("%d\n", value);
}
