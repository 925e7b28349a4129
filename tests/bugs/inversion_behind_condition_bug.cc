// The cache is locked before the store, but a writer that finds the cache full goes the other way round.
//
// FAILS: deadlock
// PREEMPTIONS: 2: the filler makes the cache full before the writer looks, and a reader is between its two locks when
// the writer is between its own
#include <mutex>
#include <thread>

std::mutex cache_mutex;
std::mutex store_mutex;
int cached;
int stored = 1;

void fill() {
  std::lock_guard lock(cache_mutex);
  cached = 3;
}

void read_through() {
  std::lock_guard cache_lock(cache_mutex);
  std::lock_guard store_lock(store_mutex);
  if (cached < 3) {
    cached = stored;
  }
}

bool cache_is_full() {
  std::lock_guard lock(cache_mutex);
  return cached >= 3;
}

void write_through() {
  const bool full = cache_is_full();
  std::unique_lock store_lock(store_mutex);
  stored++;
  if (full) {  // seldom: make room
    std::lock_guard cache_lock(cache_mutex);
    cached = 0;
  }
}

int main() {
  std::thread writer(write_through);
  std::thread reader(read_through);
  std::thread filler(fill);
  writer.join();
  reader.join();
  filler.join();
}
