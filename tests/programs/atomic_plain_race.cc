// Atomic and plain accesses to one location, of 1, 2, 4, 8 and 16 bytes.
// MACHINES: x86_64
// FLAGS: -mcx16 -latomic
#include "harness.h"

volatile unsigned short seen;  // without a use of what it saw, an exchange becomes a store that belongs to no line
unsigned char one;
unsigned short two;
unsigned four;
unsigned long eight;
alignas(16) unsigned __int128 sixteen;

static void atomic_writer() {
  __atomic_store_n(&one, 1, __ATOMIC_RELAXED);      // RACE(a)
  seen = __atomic_exchange_n(&two, 1, __ATOMIC_RELAXED);  // RACE(b)
  __atomic_fetch_add(&four, 1, __ATOMIC_RELAXED);   // RACE(c)
  __atomic_fetch_or(&eight, 1, __ATOMIC_RELAXED);   // RACE(d)
  __atomic_store_n(&sixteen, 1, __ATOMIC_RELAXED);  // RACE(e)
}

static void writer() {
  one = 2;      // RACE(a)
  two = 2;      // RACE(b)
  four = 2;     // RACE(c)
  eight = 2;    // RACE(d)
  sixteen = 2;  // RACE(e)
}

int main() {
  run_threads(atomic_writer, writer);
}
