// Whether the table was built is asked in one section, and it is built in another: two threads may build it, and the second
// throws away what the first has put into it.
//
// FAILS: assertion: an entry that was put into the table is gone
// PREEMPTIONS: 1, of one thread between its look and its building
#include <cassert>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

std::mutex table_mutex;
std::unique_ptr<std::set<int>> table;

void prepare() {
  {
    std::lock_guard lock(table_mutex);
    if (table != nullptr) {
      return;
    }
  }
  auto made = std::make_unique<std::set<int>>();
  std::lock_guard lock(table_mutex);
  table = std::move(made);
}

void add(int entry) {
  prepare();
  std::lock_guard lock(table_mutex);
  table->insert(entry);
}

int main() {
  std::thread first(add, 1);
  std::thread second(add, 2);
  first.join();
  second.join();
  assert(table->size() == 2);
}
