// A message behind a relaxed store: the acquire load that sees it receives nothing.
#include "harness.h"

int message, second_message, received;
int flag, second_flag;

static void sender() {
  message = 1;  // RACE(a)
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
  second_message = 1;  // RACE(b)
  __atomic_store_n(&second_flag, 1, __ATOMIC_RELAXED);
}

static void receiver() {
  while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
  received = message;  // RACE(a)
  while (__atomic_load_n(&second_flag, __ATOMIC_SEQ_CST) == 0) {
    sched_yield();
  }
  received = second_message;  // RACE(b)
}

int main() {
  run_threads(sender, receiver);
}
