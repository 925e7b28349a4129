// early_done without the bug: others wait until it is done.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> state{0};  // 0: nobody has begun, 1: begun, 2: done
std::atomic<int> table{0};

void use() {
  int none = 0;
  if (state.compare_exchange_strong(none, 1)) {
    table.store(42);
    state.store(2);
  }
  while (state.load() != 2) {
    std::this_thread::yield();
  }
  assert(table.load() == 42);
}

int main() {
  std::thread first(use);
  std::thread second(use);
  first.join();
  second.join();
}
