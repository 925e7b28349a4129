// A recursive mutex is held until it was unlocked as often as it was locked.
#include <mutex>

#include "harness.h"

std::recursive_mutex mutex;
int value;

static void first() {
  mutex.lock();
  mutex.lock();
  mutex.unlock();
  value = 1;
  mutex.unlock();
  reach(1);
}

static void second() {
  await(1);
  mutex.lock();
  value = 2;
  mutex.unlock();
}

int main() { run_threads(first, second); }
