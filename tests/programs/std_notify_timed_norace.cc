// A timed wait that is notified in time: the message was written before, under the mutex.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::condition_variable condition;
int waiting, message, copy;

static void waiter() {
  std::unique_lock<std::mutex> lock(mutex);
  waiting = 1;
  if (condition.wait_for(lock, std::chrono::minutes(1)) == std::cv_status::no_timeout) {
    lock.unlock();
    copy = message;
  }
}

static void notifier() {
  for (std::unique_lock<std::mutex> lock(mutex); waiting == 0;) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    message = 1;
  }
  condition.notify_one();
}

int main() { run_threads(waiter, notifier); }
