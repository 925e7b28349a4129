// A strong and a weak compare-exchange that succeed with release order send what was written before.
#include "harness.h"

int messages[2], received;
int strong_flag, weak_flag;

constexpr int kOrder = __ATOMIC_RELEASE;

static void sender() {
  messages[0] = 1;
  int expected = 0;
  __atomic_compare_exchange_n(&strong_flag, &expected, 1, false, kOrder, __ATOMIC_RELAXED);
  messages[1] = 1;
  do {
    expected = 0;
  } while (!__atomic_compare_exchange_n(&weak_flag, &expected, 1, true, kOrder, __ATOMIC_RELAXED));
}

static void receiver() {
  int expected = 1;
  while (!__atomic_compare_exchange_n(&strong_flag, &expected, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    expected = 1;
    sched_yield();
  }
  received = messages[0];
  expected = 1;
  while (!__atomic_compare_exchange_n(&weak_flag, &expected, 2, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    expected = 1;
    sched_yield();
  }
  received = messages[1];
}

int main() {
  run_threads(sender, receiver);
}
