// It looks again when it has the exclusive lock.
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
  if (entry == 0) {
    ++loads;
    entry = 17;
  }
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
