// Who registers a function comes before it runs at exit.
#include <stdlib.h>

#include "harness.h"

int message;
Apart copy;

static void at_end() {
  copy.value = message;
}

static void worker() {
  message = 1;
  atexit(at_end);
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  pthread_detach(thread);
  await(1);
}
