// std::condition_variable_any: the flag is looked at under the lock, and set without it.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::condition_variable_any condition;
int flag;

static void waiter() {
  std::unique_lock<std::mutex> lock(mutex);
  while (flag == 0) {  // RACE(a)
    condition.wait_for(lock, std::chrono::milliseconds(1));  // or the notification would be lost now and then
  }
}

static void notifier() {
  flag = 1;  // RACE(a)
  condition.notify_one();
}

int main() { run_threads(waiter, notifier); }
