// A static object whose first initialisation throws: what its thread does then is not behind the next try.
// TSAN: some, it does not see what all of these functions touch
#include "harness.h"

int tries;
Apart message;

struct Fails {
  Fails() {
    if (++tries == 1) throw 1;
    message.value = 2;  // RACE(a)
  }
};

static void first() {
  try {
    static Fails object;
  } catch (int) {
  }
}

static void use() {
  first();
  reach(1);
  message.value = 1;  // RACE(a)
}

static void again() {
  await(1);
  first();
}

int main() {
  run_threads(use, again);
}
