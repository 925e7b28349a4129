// A timed wait that is notified in time: the message was written before, but outside the mutex.
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
    copy = message;  // RACE(a)
  }
}

static void notifier() {
  for (std::unique_lock<std::mutex> lock(mutex); waiting == 0;) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  message = 1;  // RACE(a)
  condition.notify_one();
}

int main() { run_threads(waiter, notifier); }
