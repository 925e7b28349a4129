// A thread writes a local variable of its creator, which does not wait.
#include "harness.h"

int* shared;

int main() {
  int local = 0;
  shared = &local;
  pthread_t thread = start([] {
    *shared = 1;  // RACE(a)
    reach(1);
  });
  await(1);
  int copy = local;  // RACE(a)
  join(thread);
  return copy - 1;
}
