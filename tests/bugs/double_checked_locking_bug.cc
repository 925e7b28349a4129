// The pointer that the first, unlocked check reads is set before what it points to is filled in.
//
// FAILS: assertion: a limit of 0 is used
// PREEMPTIONS: 1, of the thread that makes the settings, between the pointer and the limit
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
  int limit = 0;
  bool verbose = false;
};

std::mutex mutex;
Settings* volatile settings;

Settings& get() {
  if (settings == nullptr) {
    std::lock_guard lock(mutex);
    if (settings == nullptr) {
      settings = new Settings;
      settings->limit = 10;
      settings->verbose = true;
    }
  }
  return *settings;
}

void serve() { assert(get().limit == 10); }

int main() {
  std::thread one(serve);
  std::thread two(serve);
  one.join();
  two.join();
}
