// std::mutex and std::unique_lock, unlocked too early.
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::recursive_mutex recursive;
std::timed_mutex timed;
int value;

static void first() {
  std::unique_lock<std::mutex> lock(mutex);
  lock.unlock();
  value = 1;  // RACE(a)
  reach(1);
}

static void second() {
  await(1);
  std::lock_guard<std::mutex> lock(mutex);
  value = 2;  // RACE(a)
}

int main() {
  run_threads(first, second);
}
