// std::condition_variable_any: the flag is looked at and set under the lock.
#include <condition_variable>
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::condition_variable_any condition;
int flag;

static void waiter() {
  std::unique_lock<std::mutex> lock(mutex);
  while (flag == 0) {
    condition.wait(lock);
  }
}

static void notifier() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    flag = 1;
  }
  condition.notify_one();
}

int main() { run_threads(waiter, notifier); }
