// The program exits while two threads still run; their race is in the trace.
// STATUS: 3
#include <stdlib.h>

#include "harness.h"

int value;

static void spin() {
  value = 1;  // RACE(a)
  reach(1);
  while (true) {
    sched_yield();
  }
}

int main() {
  pthread_detach(start(spin));
  value = 2;  // RACE(a)
  await(1);
  exit(3);
}
