// rcu_grace without the bug: who reads is counted first.
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
  readers.fetch_add(1);
  Version* version = current.load();
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
