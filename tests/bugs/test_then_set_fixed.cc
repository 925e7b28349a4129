// test_then_set without the bug: one step does both.
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> taken{false};
std::atomic<int> inside{0};

void lock() {
  while (taken.exchange(true)) {
    std::this_thread::yield();
  }
}

void work() {
  lock();
  assert(inside.fetch_add(1) == 0);
  inside.fetch_sub(1);
  taken.store(false);
}

int main() {
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}
