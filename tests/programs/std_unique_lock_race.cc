// A unique_lock that was told not to lock yet does not.
#include <mutex>

#include "harness.h"

std::mutex mutex;
int value;

static void first() {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  value = 1;  // RACE(a)
  reach(1);
}

static void second() {
  await(1);
  std::lock_guard<std::mutex> lock(mutex);
  value = 2;  // RACE(a)
}

int main() { run_threads(first, second); }
