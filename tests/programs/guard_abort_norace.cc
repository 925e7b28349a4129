// A static object whose first initialisation throws: the second comes behind it.
// TSAN: skip, it does not order a second initialisation behind one that threw
#include "harness.h"

int tries;

struct Fails {
  Fails() {
    if (++tries == 1) throw 1;
  }
};

static void use() {
  try {
    static Fails object;
  } catch (int) {
  }
}

int main() {
  run_threads(use, use);
}
