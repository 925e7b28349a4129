// A global constructor starts a thread; main writes at the same time as it.
#include "harness.h"

int value;

static void child() {
  value = 1;  // RACE(a)
}

struct Starter {
  pthread_t thread = start(child);
};

Starter starter;

int main() {
  value = 2;  // RACE(a)
  join(starter.thread);
}
