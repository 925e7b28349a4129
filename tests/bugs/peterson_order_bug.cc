// Peterson's lock with its two stores the wrong way round: a thread gives way before it says that it wants to go in.
//
// FAILS: assertion: two threads are inside
// PREEMPTIONS: 2, of one thread between its stores, and of the other inside
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> wants[2];
std::atomic<int> turn{0};
std::atomic<int> inside{0};

void work(int me) {
  const int other = 1 - me;
  turn.store(other);
  wants[me].store(true);
  while (wants[other].load() && turn.load() == other) {
    std::this_thread::yield();
  }
  assert(inside.fetch_add(1) == 0);
  inside.fetch_sub(1);
  wants[me].store(false);
}

int main() {
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
}
