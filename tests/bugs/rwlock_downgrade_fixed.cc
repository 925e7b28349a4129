// rwlock_downgrade without the bug: it looks before it gives the lock back.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int owner;

void change(int who) {
  std::unique_lock lock(mutex);
  owner = who;
  assert(owner == who);
}

int main() {
  std::thread first(change, 1);
  std::thread second(change, 2);
  first.join();
  second.join();
}
