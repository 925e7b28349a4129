// A write before the count-down of a latch.
#include <latch>

#include "harness.h"

std::latch latch(1);
int message;

static void first() {
  message = 1;
  latch.count_down();
}

static void second() {
  latch.wait();
  message = 2;
}

int main() {
  run_threads(first, second);
}
