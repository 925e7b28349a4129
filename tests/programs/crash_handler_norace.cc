// A handler that crashes: nobody handles that.
// STATUS: 139
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "harness.h"

int* nowhere;

static void handle(int) {
  *nowhere = 1;
}
static void raise_it() {
  raise(SIGUSR1);
}
static void wait() {
  for (;;)
    sched_yield();
}

int main() {
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGUSR1, handle);
  run_threads(wait, raise_it);
}
