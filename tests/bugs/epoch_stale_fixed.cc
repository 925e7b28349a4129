// epoch_stale without the bug: the writer waits for readers of all epochs that are over.
#include <atomic>
#include <cassert>
#include <thread>

constexpr int kQuiet = 0;

struct Version {
  std::atomic<bool> freed{false};
};

Version versions[3];
std::atomic<Version*> current{&versions[0]};
std::atomic<int> epoch{1};
std::atomic<int> announced{kQuiet};

void look() {
  const int now = epoch.load();
  announced.store(now);
  Version* version = current.load();
  assert(!version->freed.load());
  announced.store(kQuiet);
}

bool is_in_use(int left) {
  const int epoch_of_reader = announced.load();
  return epoch_of_reader != kQuiet && epoch_of_reader <= left;
}

void replace(Version* version) {
  Version* old = current.exchange(version);
  const int left = epoch.fetch_add(1);
  while (is_in_use(left)) {
    std::this_thread::yield();
  }
  old->freed.store(true);
}

int main() {
  std::thread reader(look);
  std::thread writer([] {
    replace(&versions[1]);
    replace(&versions[2]);
  });
  reader.join();
  writer.join();
}
