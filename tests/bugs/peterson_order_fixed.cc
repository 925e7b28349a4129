// peterson_order without the bug.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> wants[2];
std::atomic<int> turn{0};
std::atomic<int> inside{0};

void work(int me) {
  const int other = 1 - me;
  wants[me].store(true);
  turn.store(other);
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
