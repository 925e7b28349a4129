// Readers share a std::shared_mutex, the writer does not.
#include <mutex>
#include <shared_mutex>

#include "harness.h"

std::shared_mutex mutex;
std::shared_timed_mutex timed;
int value, copy;

static void reader() {
  std::shared_lock<std::shared_mutex> lock(mutex);
  std::shared_lock<std::shared_timed_mutex> timed_lock(timed);
  copy = value;
}

static void writer() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  std::unique_lock<std::shared_timed_mutex> timed_lock(timed);
  value = 1;
}

int main() {
  run_threads(reader, writer);
}
