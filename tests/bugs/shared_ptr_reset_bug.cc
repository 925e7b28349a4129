// A global shared_ptr is copied by one thread while another one replaces it: the count of references is atomic, the
// pointer is not.
//
// FAILS: assertion (the table is dead), or a crash
// PREEMPTIONS: 1, of the reader between its look at the pointer and its new reference
#include <cassert>
#include <memory>
#include <thread>

struct Table {
  static constexpr int kLive = 0x7ab1e;
  volatile int mark = kLive;
  int routes = 3;
  ~Table() { mark = 0; }
};

std::shared_ptr<Table> table = std::make_shared<Table>();
volatile int routes;

void route() {
  const std::shared_ptr<Table> mine = table;
  assert(mine->mark == Table::kLive);
  routes = mine->routes;
}

void update() { table = std::make_shared<Table>(); }

int main() {
  std::thread router(route);
  std::thread updater(update);
  router.join();
  updater.join();
}
