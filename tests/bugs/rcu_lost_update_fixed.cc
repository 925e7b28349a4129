// rcu_lost_update without the bug: a copy is published only if what it was made from is still current.
#include <atomic>
#include <cassert>
#include <thread>

struct Version {
  std::atomic<int> entries{0};
};

Version versions[16];
std::atomic<int> made{1};
std::atomic<Version*> current{&versions[0]};

void add_entry() {
  Version* old = current.load();
  Version* copy = &versions[made.fetch_add(1)];
  do {
    copy->entries.store(old->entries.load() + 1);
  } while (!current.compare_exchange_strong(old, copy));
}

int main() {
  std::thread first(add_entry);
  std::thread second(add_entry);
  first.join();
  second.join();
  assert(current.load()->entries.load() == 2);
}
