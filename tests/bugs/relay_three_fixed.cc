// relay_three without the bug: the flag is raised last.
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
    second_value.store(first_value.load());
    second_done.store(true);
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
