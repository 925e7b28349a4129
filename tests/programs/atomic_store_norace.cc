// A message behind a release store, received by the acquire load that sees it; and one with seq_cst.
#include "harness.h"

int message, second_message, received;
int flag, second_flag;

static void sender() {
  message = 1;
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  second_message = 1;
  __atomic_store_n(&second_flag, 1, __ATOMIC_SEQ_CST);
}

static void receiver() {
  while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  received = message;
  while (__atomic_load_n(&second_flag, __ATOMIC_SEQ_CST) == 0) {
    sched_yield();
  }
  received = second_message;
}

int main() {
  run_threads(sender, receiver);
}
