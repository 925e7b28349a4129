// A compare-exchange that fails is a load with the order for failure, here relaxed: it receives nothing. Nor does it
// write.
#include "harness.h"

int message, received;
int flag;

static void sender() {
  message = 1;  // RACE(a)
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
}

static void receiver() {
  int expected = 0;
  while (__atomic_compare_exchange_n(&flag, &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    sched_yield();
  }
  received = message;  // RACE(a)
}

int main() {
  pthread_t sending = start(sender);
  while (__atomic_load_n(&flag, __ATOMIC_RELAXED) == 0) {
    sched_yield();
  }
  pthread_t receiving = start(receiver);
  join(sending);
  join(receiving);
}
