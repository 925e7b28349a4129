// What is written behind the registration does not come before the function that runs at exit.
#include <stdlib.h>

#include "harness.h"

int message;
Apart copy;

static void at_end() {
  copy.value = message;  // RACE(a)
}

static void worker() {
  atexit(at_end);
  message = 1;  // RACE(a)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  pthread_detach(thread);
  await(1);
}
