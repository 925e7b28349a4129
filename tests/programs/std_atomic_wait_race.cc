// std::atomic::wait with relaxed order: waking up orders nothing.
#include <atomic>

#include "harness.h"

std::atomic<int> number;
std::atomic_flag flag = ATOMIC_FLAG_INIT;
int message, second_message;

static void waiter() {
  number.wait(0, std::memory_order_relaxed);
  message = 2;  // RACE(a)
}

static void notifier() {
  message = 1;  // RACE(a)
  number.store(1, std::memory_order_release);
  number.notify_one();
}

int main() {
  run_threads(waiter, notifier);
}
