// The parent writes after it has created the thread and before it joins it.
// OUTPUT: 2
#include <stdio.h>

#include "harness.h"

int value, ready;

static void child() {
  value = 2;  // RACE(a)
  reach(1);
}

int main() {
  pthread_t thread = start(child);
  await(1);
  value = 2;  // RACE(a)
  join(thread);
  printf("%d\n", value);
}
