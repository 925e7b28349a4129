// The last owner is found with acquire and release.
#include <stdlib.h>

#include "harness.h"

struct Shared {
  int owners;
  int values[2];
};

Shared* shared;

static void drop(int self) {
  shared->values[self] = 1;
  bool last = __atomic_fetch_sub(&shared->owners, 1, __ATOMIC_ACQ_REL) == 1;
  if (last) free(shared);
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
