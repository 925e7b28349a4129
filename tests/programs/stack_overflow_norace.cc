// A thread that recurses for ever, until its stack is full.
// STATUS: 139
#include <stdio.h>
#include <sys/resource.h>

#include "harness.h"

int depth;

static int deeper(volatile int* from) {
  volatile int here[64];
  here[0] = *from + 1;
  ++depth;
  return deeper(here) + here[0];
}

static void recurse() {
  volatile int first = 0;
  printf("%d\n", deeper(&first));
}
static void wait() {
  for (;;)
    sched_yield();
}

int main() {
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  run_threads(wait, recurse);
}
