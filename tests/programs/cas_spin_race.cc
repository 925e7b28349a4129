// A thread that waits for a compare-exchange to succeed, which is relaxed and so orders nothing.
// OUTPUT: 1
#include <stdio.h>

#include "harness.h"

int ready;
int value;

static void give() {
  value = 1;  // RACE(a)
  __atomic_store_n(&ready, 1, __ATOMIC_RELAXED);
}

static void take() {
  for (int expected = 1;
       !__atomic_compare_exchange_n(&ready, &expected, 2, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);) {
    expected = 1;
  }
  printf("%d\n", value);  // RACE(a)
}

int main() {
  run_threads(take, give);
}
