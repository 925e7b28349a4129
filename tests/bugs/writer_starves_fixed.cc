// The writer waits for the lock.
#include <atomic>
#include <cassert>
#include <mutex>
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
  std::unique_lock lock(mutex);
  version = 2;
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
