// Copies of a std::shared_ptr, the last of which frees what both have read.
#include <memory>

#include "locks.h"

std::shared_ptr<int> one = std::make_shared<int>(1), other = one;
int sums[2];

static void* first(void*) {
  const std::shared_ptr<int> copy = one;
  sums[0] = *copy;
  one.reset();
  return nullptr;
}

static void* second(void*) {
  const std::shared_ptr<int> copy = other;
  sums[1] = *copy;
  other.reset();
  return nullptr;
}

int main() { run_threads(first, second); }
