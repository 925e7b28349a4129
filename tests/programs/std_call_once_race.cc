// std::call_once makes the table once; a later change of it is not protected.
#include <mutex>

#include "harness.h"

std::once_flag flag;
int table, sums[2];

static void first() {
  std::call_once(flag, [] { table = 1; });
  table = 2;  // RACE(a)
}

static void second() {
  std::call_once(flag, [] { table = 1; });
  table = 3;  // RACE(a)
}

int main() {
  run_threads(first, second);
}
