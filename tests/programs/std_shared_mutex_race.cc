// Two threads share a std::shared_mutex, and one of them writes.
#include <mutex>
#include <shared_mutex>

#include "harness.h"

std::shared_mutex mutex;
std::shared_timed_mutex timed;
int value, copy;

static void reader() {
  std::shared_lock<std::shared_mutex> lock(mutex);
  std::shared_lock<std::shared_timed_mutex> timed_lock(timed);
  copy = value;  // RACE(a)
}

static void writer() {
  std::shared_lock<std::shared_mutex> lock(mutex);
  std::shared_lock<std::shared_timed_mutex> timed_lock(timed);
  value = 1;  // RACE(a)
}

int main() {
  run_threads(reader, writer);
}
