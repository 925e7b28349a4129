// A write after the count-down of a latch.
#include <latch>

#include "harness.h"

std::latch latch(1);
int message;

static void first() {
  latch.count_down();
  message = 1;  // RACE(a)
}

static void second() {
  latch.wait();
  message = 2;  // RACE(a)
}

int main() {
  run_threads(first, second);
}
