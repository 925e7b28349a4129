// A writer gives its lock back and takes it again as a reader, to look at what it wrote: another writer fits in between.
//
// FAILS: assertion: a thread reads what it did not write
// PREEMPTIONS: 1, of one writer between its two locks
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int owner;

void change(int who) {
  {
    std::unique_lock lock(mutex);
    owner = who;
  }
  std::shared_lock lock(mutex);
  assert(owner == who);
}

int main() {
  std::thread first(change, 1);
  std::thread second(change, 2);
  first.join();
  second.join();
}
