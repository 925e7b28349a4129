// Each fetch-and-modify sends with release order.
#include "harness.h"

Apart messages[6];
int received;
int add, sub, bits_and = -1, bits_or, bits_xor, bits_nand = -1;

constexpr int kOrder = __ATOMIC_RELEASE;

static void sender() {
  messages[0].value = 1;
  __atomic_fetch_add(&add, 1, kOrder);
  messages[1].value = 1;
  __atomic_fetch_sub(&sub, 1, kOrder);
  messages[2].value = 1;
  __atomic_fetch_and(&bits_and, 6, kOrder);
  messages[3].value = 1;
  __atomic_fetch_or(&bits_or, 6, kOrder);
  messages[4].value = 1;
  __atomic_fetch_xor(&bits_xor, 6, kOrder);
  messages[5].value = 1;
  __atomic_fetch_nand(&bits_nand, 6, kOrder);
}

static void wait_while(int* flag, int value) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == value) {
    sched_yield();
  }
}

static void receiver() {
  wait_while(&add, 0);
  received += messages[0].value;
  wait_while(&sub, 0);
  received += messages[1].value;
  wait_while(&bits_and, -1);
  received += messages[2].value;
  wait_while(&bits_or, 0);
  received += messages[3].value;
  wait_while(&bits_xor, 0);
  received += messages[4].value;
  wait_while(&bits_nand, -1);
  received += messages[5].value;
}

int main() {
  run_threads(sender, receiver);
}
