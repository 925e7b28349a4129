// A recursive mutex that is locked twice and unlocked twice protects nothing behind the second unlock.
#include <mutex>

#include "harness.h"

std::recursive_mutex mutex;
int value;

static void first() {
  mutex.lock();
  mutex.lock();
  mutex.unlock();
  mutex.unlock();
  value = 1;  // RACE(a)
  reach(1);
}

static void second() {
  await(1);
  mutex.lock();
  value = 2;  // RACE(a)
  mutex.unlock();
}

int main() { run_threads(first, second); }
