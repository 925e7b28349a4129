// A thread writes a local variable of its creator, which waits.
#include "harness.h"

int* shared;

int main() {
  int local = 0;
  shared = &local;
  pthread_t thread = start([] {
    *shared = 1;
    reach(1);
  });
  join(thread);
  int copy = local;
  return copy - 1;
}
