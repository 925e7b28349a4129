// One thread goes by an atomic reference, the other does not.
#include <atomic>

#include "harness.h"

int value;

static void first() {
  std::atomic_ref<int>(value).fetch_add(1);  // RACE(a)
  reach(1);
}

static void second() {
  await(1);
  ++value;  // RACE(a)
}

int main() { run_threads(first, second); }
