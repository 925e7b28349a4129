// A reader that finds no entry gives its shared lock back to get the exclusive one, and does not look again.
//
// FAILS: assertion: the entry was loaded twice
// PREEMPTIONS: 1, of one thread between the two locks
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int entry;
int loads;

int lookup() {
  {
    std::shared_lock reading(mutex);
    if (entry != 0) {
      return entry;
    }
  }
  std::unique_lock writing(mutex);
  ++loads;
  entry = 17;
  return entry;
}

void use() { assert(lookup() == 17); }

int main() {
  std::thread one(use);
  std::thread two(use);
  one.join();
  two.join();
  assert(loads == 1);
}
