// Read-copy-update with one counter of readers: a reader counts itself after it has taken the pointer, so the writer, who waits
// until nobody reads, does not wait for it.
//
// FAILS: assertion: an old version is used after it was freed
// PREEMPTIONS: 1, of the reader between the pointer and the counter
#include <atomic>
#include <cassert>
#include <thread>

struct Version {
  std::atomic<bool> freed{false};
};

Version versions[2];
std::atomic<Version*> current{&versions[0]};
std::atomic<int> readers{0};

void look() {
  Version* version = current.load();
  readers.fetch_add(1);
  assert(!version->freed.load());
  readers.fetch_sub(1);
}

void update() {
  Version* old = current.exchange(&versions[1]);
  while (readers.load() != 0) {
    std::this_thread::yield();
  }
  old->freed.store(true);
}

int main() {
  std::thread reader(look);
  std::thread writer(update);
  reader.join();
  writer.join();
}
