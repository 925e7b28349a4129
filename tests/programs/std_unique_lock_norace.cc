// A unique_lock that is locked later protects from then on.
#include <mutex>

#include "harness.h"

std::mutex mutex;
int value;

static void first() {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  lock.lock();
  value = 1;
  reach(1);
}

static void second() {
  await(1);
  std::lock_guard<std::mutex> lock(mutex);
  value = 2;
}

int main() { run_threads(first, second); }
