// The threads write in different phases of a C++20 barrier, and so does its completion function.
#include <barrier>

#include "harness.h"

int value;

struct Completion {
  void operator()() noexcept { value = 0; }
};

std::barrier<Completion> barrier(2);

static void first() {
  value = 1;
  barrier.arrive_and_wait();
  barrier.arrive_and_wait();
}

static void second() {
  barrier.arrive_and_wait();
  value = 2;
  barrier.arrive_and_wait();
}

int main() {
  run_threads(first, second);
}
