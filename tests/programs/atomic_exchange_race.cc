// An exchange that is relaxed on one side sends or receives nothing.
#include "harness.h"

int sent_message, received_message, received;
int sent_flag, received_flag;

static void sender() {
  sent_message = 1;  // RACE(a)
  __atomic_exchange_n(&sent_flag, 1, __ATOMIC_ACQUIRE);
  received_message = 1;  // RACE(b)
  __atomic_store_n(&received_flag, 1, __ATOMIC_RELEASE);
}

static void receiver() {
  while (__atomic_load_n(&sent_flag, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  received = sent_message;  // RACE(a)
  while (__atomic_exchange_n(&received_flag, 0, __ATOMIC_RELEASE) == 0) {
    sched_yield();
  }
  received = received_message;  // RACE(b)
}

int main() {
  run_threads(sender, receiver);
}
