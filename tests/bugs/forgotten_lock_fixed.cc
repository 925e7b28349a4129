// The early return holds the lock, too.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
int open_orders = 2;

void close_order(bool accepted) {
  std::lock_guard lock(mutex);
  if (!accepted) {
    --open_orders;
    return;
  }
  --open_orders;
}

int main() {
  std::thread clerk(close_order, true);
  std::thread broker(close_order, false);
  clerk.join();
  broker.join();
  assert(open_orders == 0);
}
