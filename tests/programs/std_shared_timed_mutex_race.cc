// Two readers of a shared mutex write what it protects.
#include <mutex>
#include <shared_mutex>

#include "harness.h"

std::shared_timed_mutex mutex;
int value;

static void first() {
  std::shared_lock<std::shared_timed_mutex> lock(mutex);
  value = 1;  // RACE(a)
  reach(1);
}

static void second() {
  await(1);
  std::shared_lock<std::shared_timed_mutex> lock(mutex);
  value = 2;  // RACE(a)
}

int main() { run_threads(first, second); }
