// std::condition_variable: the message is written after the notification.
#include <condition_variable>
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::condition_variable condition;
bool ready;
int message, copy;

static void waiter() {
  {
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait(lock, [] { return ready; });
  }
  copy = message;  // RACE(a)
}

static void notifier() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
  }
  condition.notify_one();
  message = 1;  // RACE(a)
}

int main() {
  run_threads(waiter, notifier);
}
