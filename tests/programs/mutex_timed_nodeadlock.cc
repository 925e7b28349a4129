// Two locks in opposite order, but the second one is waited for up to some time only.
#include <chrono>
#include <mutex>

#include "quiet_steps.h"

std::timed_mutex a;
std::timed_mutex b;
int value;

static void use_both(std::timed_mutex& first, std::timed_mutex& second) {
  std::lock_guard<std::timed_mutex> outer(first);
  if (second.try_lock_for(std::chrono::hours(1))) {
    ++value;
    second.unlock();
  }
}

static void one() {
  use_both(a, b);
  quiet_reach(1);
}

static void other() {
  quiet_await(1);
  use_both(b, a);
}

int main() {
  run_threads(one, other);
}
