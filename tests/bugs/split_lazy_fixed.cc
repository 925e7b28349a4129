// The look and the building are one section.
#include <cassert>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

std::mutex table_mutex;
std::unique_ptr<std::set<int>> table;

void prepare() {
  std::lock_guard lock(table_mutex);
  if (table == nullptr) {
    table = std::make_unique<std::set<int>>();
  }
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
