// std::condition_variable_any on a shared lock: the message is written after the notification.
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
    condition.wait_for(lock, std::chrono::minutes(1), [] { return ready; });
  }
  copy = message;  // RACE(a)
}

static void notifier() {
  {
    std::unique_lock<std::shared_mutex> lock(mutex);
    ready = true;
  }
  condition.notify_all();
  message = 1;  // RACE(a)
}

int main() {
  run_threads(waiter, notifier);
}
