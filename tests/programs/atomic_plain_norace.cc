// Atomic accesses only, relaxed, of 1, 2, 4, 8 and 16 bytes.
// MACHINES: x86_64
// FLAGS: -mcx16 -latomic
#include "harness.h"

unsigned char one;
unsigned short two;
unsigned four;
unsigned long eight;
alignas(16) unsigned __int128 sixteen;

static void atomic_writer() {
  __atomic_store_n(&one, 1, __ATOMIC_RELAXED);
  __atomic_exchange_n(&two, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&four, 1, __ATOMIC_RELAXED);
  __atomic_fetch_or(&eight, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&sixteen, 1, __ATOMIC_RELAXED);
}

static void writer() {
  __atomic_store_n(&one, 2, __ATOMIC_RELAXED);
  __atomic_store_n(&two, 2, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&four, 2, __ATOMIC_RELAXED);
  __atomic_fetch_and(&eight, 2, __ATOMIC_RELAXED);
  __atomic_exchange_n(&sixteen, 2, __ATOMIC_RELAXED);
}

int main() {
  run_threads(atomic_writer, writer);
}
