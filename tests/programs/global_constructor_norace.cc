// A global constructor starts a thread and joins it: it is over when main begins.
#include "harness.h"

int value;

static void child() {
  value = 1;
}

struct Starter {
  pthread_t thread = start(child);
  Starter() { join(thread); }
};

Starter starter;

int main() {
  value = 2;
}
