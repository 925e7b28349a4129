// Copies of a std::shared_ptr come and go, and the count of references orders nothing else. That the counts may be others is known in a
// deep recording only.
// DEEP
#include <memory>

#include "locks.h"

std::shared_ptr<int> one = std::make_shared<int>(1), other = one;
int shared;

static void* first(void*) {
  shared = 1;  // RACE
  { const std::shared_ptr<int> copy = one; }
  return nullptr;
}

static void* second(void*) {
  { const std::shared_ptr<int> copy = other; }
  shared = 2;  // RACE
  return nullptr;
}

int main() { run_threads(first, second); }
