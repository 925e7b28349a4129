// The pointer is atomic and set when all else is there.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
  int limit = 0;
  bool verbose = false;
};

std::mutex mutex;
std::atomic<Settings*> settings{nullptr};

Settings& get() {
  Settings* made = settings.load(std::memory_order_acquire);
  if (made == nullptr) {
    std::lock_guard lock(mutex);
    made = settings.load(std::memory_order_relaxed);
    if (made == nullptr) {
      made = new Settings{10, true};
      settings.store(made, std::memory_order_release);
    }
  }
  return *made;
}

void serve() { assert(get().limit == 10); }

int main() {
  std::thread one(serve);
  std::thread two(serve);
  one.join();
  two.join();
}
