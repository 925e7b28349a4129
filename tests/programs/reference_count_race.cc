// The last owner is found with a relaxed counter, so nothing orders the other's use before the free.
#include <stdlib.h>

#include "harness.h"

struct Shared {
  int owners;
  int values[2];
};

Shared* shared;

static void drop(int self) {
  shared->values[self] = 1;  // RACE(a)
  bool last = __atomic_fetch_sub(&shared->owners, 1, __ATOMIC_RELAXED) == 1;  // RACE(b)
  if (last) free(shared);  // RACE(a) RACE(b)
}

int main() {
  shared = static_cast<Shared*>(calloc(1, sizeof(Shared)));
  shared->owners = 2;
  run_threads(
      [] {
        drop(0);
        reach(1);
      },
      [] {
        await(1);
        drop(1);
      });
}
