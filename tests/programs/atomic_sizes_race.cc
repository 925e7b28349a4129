// Messages through flags of 1, 2, 4, 8 and 16 bytes: a relaxed load does not receive what a release store sends.
// MACHINES: x86_64
// FLAGS: -mcx16 -latomic
#include "harness.h"

unsigned char one;
unsigned short two;
unsigned four;
unsigned long eight;
alignas(16) unsigned __int128 sixteen;
Apart messages[5];
int sums[5];

template <typename Flag>
void receive(Flag* flag) {
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {
    sched_yield();
  }
}

static void sender() {
  messages[0].value = 1;  // RACE(a)
  __atomic_store_n(&one, 1, __ATOMIC_RELEASE);
  messages[1].value = 1;  // RACE(b)
  __atomic_store_n(&two, 1, __ATOMIC_RELEASE);
  messages[2].value = 1;  // RACE(c)
  __atomic_store_n(&four, 1, __ATOMIC_RELEASE);
  messages[3].value = 1;  // RACE(d)
  __atomic_store_n(&eight, 1, __ATOMIC_RELEASE);
  messages[4].value = 1;  // RACE(e)
  __atomic_store_n(&sixteen, 1, __ATOMIC_RELEASE);
}

static void receiver() {
  receive(&one);
  sums[0] = messages[0].value;  // RACE(a)
  receive(&two);
  sums[1] = messages[1].value;  // RACE(b)
  receive(&four);
  sums[2] = messages[2].value;  // RACE(c)
  receive(&eight);
  sums[3] = messages[3].value;  // RACE(d)
  receive(&sixteen);
  sums[4] = messages[4].value;  // RACE(e)
}

int main() {
  run_threads(sender, receiver);
}
