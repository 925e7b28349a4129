// Waits in loops: for a plain variable, for an atomic one, for a lock that is tried, and with a compare-exchange.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

volatile int plain = 0;
std::atomic<int> atomic{0};
std::mutex lock;
int done = 0;  // guarded by a flag

int main(int, char** arguments) {
  const char* how = arguments[1];
  lock.lock();
  std::thread waiter([how] {
    if (std::strcmp(how, "plain") == 0) {
      while (plain == 0) {  // SITE(1)
      }
    } else if (std::strcmp(how, "atomic") == 0) {
      while (atomic.load(std::memory_order_acquire) == 0) {
      }
    } else if (std::strcmp(how, "exchange") == 0) {
      for (int expected = 1; !atomic.compare_exchange_weak(expected, 2); expected = 1) {
      }
    } else {
      while (!lock.try_lock()) {
      }
      lock.unlock();
    }
    std::printf("%d\n", done);
  });
  done = 1;
  plain = 1;  // SITE(2)
  atomic = 1;
  lock.unlock();
  waiter.join();
}
