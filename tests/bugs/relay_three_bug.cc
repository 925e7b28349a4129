// Three threads hand a value on. The last one goes by a flag that the second raises before it has copied the value.
//
// FAILS: assertion: the last thread reads a value that was not handed on
// PREEMPTIONS: 1, of the second thread between flag and copy
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> first_value{0}, second_value{0};
std::atomic<bool> first_done{false}, second_done{false};

void first() {
  first_value.store(7);
  first_done.store(true);
}

void second() {
  if (first_done.load()) {
    second_done.store(true);
    second_value.store(first_value.load());
  }
}

void third() {
  if (second_done.load()) {
    assert(second_value.load() == 7);
  }
}

int main() {
  std::thread a(first), b(second), c(third);
  a.join();
  b.join();
  c.join();
}
