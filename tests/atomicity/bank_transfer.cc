// The balance is looked at in one section and changed in another: two withdrawals see the same money.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex account_mutex;
int balance = 100;

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(account_mutex);
  if (balance >= 80) {
    balance -= 80;
  }
}
#else
void work(int) {
  bool enough;
  {
    std::lock_guard guard(account_mutex);
    enough = balance >= 80;
  }
  if (enough) {
    std::lock_guard guard(account_mutex);
    balance -= 80;
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(balance >= 0);
}
