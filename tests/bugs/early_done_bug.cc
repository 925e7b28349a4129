// Initialisation on first use: the flag that says it is done is raised by the one that begins with it.
//
// FAILS: assertion: a table is used before it is filled
// PREEMPTIONS: 1, of the first thread behind the flag
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> state{0};  // 0: nobody has begun, 1: begun, 2: done
std::atomic<int> table{0};

void use() {
  int none = 0;
  if (state.compare_exchange_strong(none, 2)) {
    table.store(42);
  }
  assert(table.load() == 42);
}

int main() {
  std::thread first(use);
  std::thread second(use);
  first.join();
  second.join();
}
