// std::atomic::wait with acquire order, and std::atomic_flag.
#include <atomic>

#include "harness.h"

std::atomic<int> number;
std::atomic_flag flag = ATOMIC_FLAG_INIT;
int message, second_message;

static void waiter() {
  number.wait(0, std::memory_order_acquire);
  message = 2;
  flag.wait(false);
  second_message = 2;
}

static void notifier() {
  message = 1;
  number.store(1, std::memory_order_release);
  number.notify_one();
  second_message = 1;
  flag.test_and_set();
  flag.notify_all();
}

int main() {
  run_threads(waiter, notifier);
}
