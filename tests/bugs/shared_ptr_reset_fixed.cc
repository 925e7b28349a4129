// Copy and replacement hold a lock.
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Table {
  static constexpr int kLive = 0x7ab1e;
  volatile int mark = kLive;
  int routes = 3;
  ~Table() { mark = 0; }
};

std::mutex mutex;
std::shared_ptr<Table> table = std::make_shared<Table>();
volatile int routes;

std::shared_ptr<Table> current() {
  std::lock_guard lock(mutex);
  return table;
}

void route() {
  const std::shared_ptr<Table> mine = current();
  assert(mine->mark == Table::kLive);
  routes = mine->routes;
}

void update() {
  auto made = std::make_shared<Table>();
  std::lock_guard lock(mutex);
  table.swap(made);
}

int main() {
  std::thread router(route);
  std::thread updater(update);
  router.join();
  updater.join();
}
