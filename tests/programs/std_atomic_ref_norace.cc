// Both threads go by an atomic reference.
#include <atomic>

#include "harness.h"

int value;

static void first() {
  std::atomic_ref<int>(value).fetch_add(1);
  reach(1);
}

static void second() {
  await(1);
  std::atomic_ref<int>(value).fetch_add(1);
}

int main() { run_threads(first, second); }
