// All paths hold the lock but one: a refused order is taken off the number of those open without it.
//
// FAILS: assertion: the number of open orders is wrong
// PREEMPTIONS: 1, of one thread between its read of the number and its write
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
int open_orders = 2;

void close_order(bool accepted) {
  if (!accepted) {
    --open_orders;  // an early return, added later
    return;
  }
  std::lock_guard lock(mutex);
  --open_orders;
}

int main() {
  std::thread clerk(close_order, true);
  std::thread broker(close_order, false);
  clerk.join();
  broker.join();
  assert(open_orders == 0);
}
