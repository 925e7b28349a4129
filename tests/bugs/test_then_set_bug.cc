// A spin lock that looks whether it is free and then takes it, in two steps.
//
// FAILS: assertion: two threads are inside
// PREEMPTIONS: 1, of one thread between its look and its deed
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<bool> taken{false};
std::atomic<int> inside{0};

void lock() {
  while (taken.load()) {
    std::this_thread::yield();
  }
  taken.store(true);
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
