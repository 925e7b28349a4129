// std::call_once: both threads use what one of them made.
#include <mutex>

#include "harness.h"

std::once_flag flag;
int table, sums[2];

static void first() {
  std::call_once(flag, [] { table = 1; });
  sums[0] = table;
}

static void second() {
  std::call_once(flag, [] { table = 1; });
  sums[1] = table;
}

int main() {
  run_threads(first, second);
}
