// A compare-exchange that fails is a load with the order for failure, here acquire.
#include "harness.h"

int message, received;
int flag;

static void sender() {
  message = 1;
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
}

static void receiver() {
  int expected = 0;
  while (__atomic_compare_exchange_n(&flag, &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    sched_yield();
  }
  received = message;
}

int main() {
  pthread_t sending = start(sender);
  pthread_t receiving = start(receiver);
  join(sending);
  join(receiving);
}
