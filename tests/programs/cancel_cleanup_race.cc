// The clean-up of a cancelled thread, and who does not wait for it.
#include <unistd.h>

#include "harness.h"

int value;
volatile int copy;

static void clean(void*) {
  value = 1;  // RACE(a)
  reach(2);
}
static void worker() {
  pthread_cleanup_push(clean, nullptr);
  reach(1);
  for (;;) pause();
  pthread_cleanup_pop(0);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  pthread_cancel(thread);
  await(2);
  copy = value;  // RACE(a)
  join(thread);
}
