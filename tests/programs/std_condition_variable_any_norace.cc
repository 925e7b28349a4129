// std::condition_variable_any on a shared lock, with timeouts.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "harness.h"

std::shared_mutex mutex;
std::condition_variable_any condition;
bool ready;
int message, copy;

static void waiter() {
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    // A thread can be kept from running for longer than any timeout.
    while (!condition.wait_for(lock, std::chrono::minutes(1), [] { return ready; })) {
    }
  }
  copy = message;
}

static void notifier() {
  message = 1;
  {
    std::unique_lock<std::shared_mutex> lock(mutex);
    ready = true;
  }
  condition.notify_all();
}

int main() {
  run_threads(waiter, notifier);
}
