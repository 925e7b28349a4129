// std::mutex, recursive_mutex and timed_mutex with lock_guard, unique_lock and scoped_lock.
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::recursive_mutex recursive;
std::timed_mutex timed;
int value;

static void first() {
  std::unique_lock<std::mutex> lock(mutex);
  value = 1;
  lock.unlock();
  std::scoped_lock both(recursive, timed);
  std::lock_guard<std::recursive_mutex> again(recursive);
  value += 0;
}

static void second() {
  std::scoped_lock both(recursive, timed);
  std::lock_guard<std::mutex> lock(mutex);
  value = 2;
}

int main() {
  run_threads(first, second);
}
