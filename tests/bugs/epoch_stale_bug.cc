// Reclamation by epochs: the writer waits for readers of the epoch that is over, but not for one that announces an older one
// late.
//
// FAILS: assertion: a version is used after it was freed
// PREEMPTIONS: 2, of the reader in front of its announcement, and in front of its use
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

bool is_in_use(int left) { return announced.load() == left; }

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
