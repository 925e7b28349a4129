// An exchange sends with release and receives with acquire.
#include "harness.h"

int sent_message, received_message, received;
int sent_flag, received_flag;

static void sender() {
  sent_message = 1;
  __atomic_exchange_n(&sent_flag, 1, __ATOMIC_RELEASE);
  received_message = 1;
  __atomic_store_n(&received_flag, 1, __ATOMIC_RELEASE);
}

static void receiver() {
  while (__atomic_load_n(&sent_flag, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  received = sent_message;
  while (__atomic_exchange_n(&received_flag, 0, __ATOMIC_ACQ_REL) == 0) {
    sched_yield();
  }
  received = received_message;
}

int main() {
  run_threads(sender, receiver);
}
