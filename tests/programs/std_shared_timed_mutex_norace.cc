// A reader and a writer of a shared mutex.
#include <mutex>
#include <shared_mutex>

#include "harness.h"

std::shared_timed_mutex mutex;
int value;

static void first() {
  std::unique_lock<std::shared_timed_mutex> lock(mutex);
  value = 1;
  reach(1);
}

static void second() {
  await(1);
  std::shared_lock<std::shared_timed_mutex> lock(mutex);
  [[maybe_unused]] volatile int copy = value;
}

int main() { run_threads(first, second); }
