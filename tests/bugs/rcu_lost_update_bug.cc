// Two writers copy what is current, change the copy and publish it: nobody looks whether it is still current then.
//
// FAILS: assertion: the change of one writer is lost
// PREEMPTIONS: 1, of one writer before it publishes
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
  copy->entries.store(old->entries.load() + 1);
  current.store(copy);
}

int main() {
  std::thread first(add_entry);
  std::thread second(add_entry);
  first.join();
  second.join();
  assert(current.load()->entries.load() == 2);
}
