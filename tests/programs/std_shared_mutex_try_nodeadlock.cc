// Readers and writers that take two locks in opposite order, the second one with try_to_lock.
#include <mutex>
#include <shared_mutex>

#include "quiet_steps.h"

std::shared_mutex a;
std::shared_mutex b;
int value;

static void writer() {
  std::unique_lock<std::shared_mutex> first(a);
  std::unique_lock<std::shared_mutex> second(b, std::try_to_lock);
  if (second.owns_lock()) {
    ++value;
  }
}

static void one() {
  writer();
  quiet_reach(1);
}

static void reader() {
  quiet_await(1);
  std::shared_lock<std::shared_mutex> first(b);
  std::shared_lock<std::shared_mutex> second(a, std::try_to_lock);
}

int main() {
  run_threads(one, reader);
}
