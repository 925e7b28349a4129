// Messages through flags of 1, 2, 4, 8 and 16 bytes: release stores and acquire loads.
// FLAGS: -mcx16 -latomic
#include "harness.h"

unsigned char one;
unsigned short two;
unsigned four;
unsigned long eight;
alignas(16) unsigned __int128 sixteen;
int messages[5];
int sums[5];

template <typename Flag>
void receive(Flag* flag) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
    sched_yield();
  }
}

static void sender() {
  messages[0] = 1;
  __atomic_store_n(&one, 1, __ATOMIC_RELEASE);
  messages[1] = 1;
  __atomic_store_n(&two, 1, __ATOMIC_RELEASE);
  messages[2] = 1;
  __atomic_store_n(&four, 1, __ATOMIC_RELEASE);
  messages[3] = 1;
  __atomic_store_n(&eight, 1, __ATOMIC_RELEASE);
  messages[4] = 1;
  __atomic_store_n(&sixteen, 1, __ATOMIC_RELEASE);
}

static void receiver() {
  receive(&one);
  sums[0] = messages[0];
  receive(&two);
  sums[1] = messages[1];
  receive(&four);
  sums[2] = messages[2];
  receive(&eight);
  sums[3] = messages[3];
  receive(&sixteen);
  sums[4] = messages[4];
}

int main() {
  run_threads(sender, receiver);
}
