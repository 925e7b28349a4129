// std::call_once whose first call throws: what its thread does then is not behind the next call.
// TSAN: skip, to it the first call never ends
#include <mutex>

#include "harness.h"

std::once_flag flag;
int tries;
Apart message;

static void make() {
  if (++tries == 1) throw 1;
  message.value = 2;  // RACE(a)
}

static void first() {
  try {
    std::call_once(flag, make);
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
