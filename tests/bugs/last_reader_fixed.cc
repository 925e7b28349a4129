// last_reader without the bug: one step lowers and asks.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> readers{2};
std::atomic<int> closed{0};

void leave() {
  if (readers.fetch_sub(1) == 1) {
    assert(closed.fetch_add(1) == 0);
  }
}

int main() {
  std::thread first(leave);
  std::thread second(leave);
  first.join();
  second.join();
}
