// The program exits while a thread still runs.
// STATUS: 3
#include <stdlib.h>

#include "harness.h"

int value;

static void spin() {
  value = 1;
  reach(1);
  while (true) {
    sched_yield();
  }
}

int main() {
  value = 2;
  pthread_detach(start(spin));
  await(1);
  exit(3);
}
