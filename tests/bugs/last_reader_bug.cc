// The last reader closes the file. Whether it is the last one is asked after the count was lowered, in a second step: of two that
// leave together both are the last.
//
// FAILS: assertion: the file is closed twice
// PREEMPTIONS: 1, of one reader between the two steps
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> readers{2};
std::atomic<int> closed{0};

void leave() {
  readers.fetch_sub(1);
  if (readers.load() == 0) {
    assert(closed.fetch_add(1) == 0);
  }
}

int main() {
  std::thread first(leave);
  std::thread second(leave);
  first.join();
  second.join();
}
