// A writer tries three times to get the lock and then drops the update: readers that take turns starve it.
//
// FAILS: assertion: the update is lost
// PREEMPTIONS: 3, at each of which a reader has the lock; fewer if one reader has it during several tries
#include <atomic>
#include <cassert>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int version = 1;
std::atomic<int> seen;

void read_version() {
  for (int i = 0; i < 3; ++i) {
    std::shared_lock lock(mutex);
    seen.store(version);
  }
}

void write_version() {
  for (int tries = 0; tries < 3; ++tries) {
    if (mutex.try_lock()) {
      version = 2;
      mutex.unlock();
      return;
    }
    std::this_thread::yield();
  }
}

int main() {
  std::thread reader(read_version);
  std::thread other_reader(read_version);
  std::thread writer(write_version);
  reader.join();
  other_reader.join();
  writer.join();
  assert(version == 2);
}
