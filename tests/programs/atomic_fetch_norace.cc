// Each fetch-and-modify sends with release order.
#include "harness.h"

int messages[6], received;
int add, sub, bits_and = -1, bits_or, bits_xor, bits_nand = -1;

constexpr int kOrder = __ATOMIC_RELEASE;

static void sender() {
  messages[0] = 1;
  __atomic_fetch_add(&add, 1, kOrder);
  messages[1] = 1;
  __atomic_fetch_sub(&sub, 1, kOrder);
  messages[2] = 1;
  __atomic_fetch_and(&bits_and, 6, kOrder);
  messages[3] = 1;
  __atomic_fetch_or(&bits_or, 6, kOrder);
  messages[4] = 1;
  __atomic_fetch_xor(&bits_xor, 6, kOrder);
  messages[5] = 1;
  __atomic_fetch_nand(&bits_nand, 6, kOrder);
}

static void wait_while(int* flag, int value) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == value) {
    sched_yield();
  }
}

static void receiver() {
  wait_while(&add, 0);
  received += messages[0];
  wait_while(&sub, 0);
  received += messages[1];
  wait_while(&bits_and, -1);
  received += messages[2];
  wait_while(&bits_or, 0);
  received += messages[3];
  wait_while(&bits_xor, 0);
  received += messages[4];
  wait_while(&bits_nand, -1);
  received += messages[5];
}

int main() {
  run_threads(sender, receiver);
}
