// Both threads write in the same phase of a C++20 barrier. Neither comes back to it before both have: a thread that still leaves it shares
// atomics with one that waits in it again.
#include <barrier>

#include "harness.h"

int value;

struct Completion {
  void operator()() noexcept {}
};

std::barrier<Completion> barrier(2);

static void first() {
  barrier.arrive_and_wait();
  value = 1;  // RACE(a)
  reach_one_more();
  await(2);
  barrier.arrive_and_wait();
}

static void second() {
  barrier.arrive_and_wait();
  value = 2;  // RACE(a)
  reach_one_more();
  await(2);
  barrier.arrive_and_wait();
}

int main() {
  run_threads(first, second);
}
