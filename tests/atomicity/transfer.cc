// Money leaves one account in one section and reaches the other in another: an auditor misses it.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex bank_mutex;
int accounts[2] = {50, 50};

void add(int account, int amount) {
  std::lock_guard guard(bank_mutex);
  accounts[account] += amount;
}

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(bank_mutex);
  if (me == 1) {
    accounts[0] -= 30;
    accounts[1] += 30;
  } else {
    assert(accounts[0] + accounts[1] == 100);
  }
}
#else
void work(int me) {
  if (me == 1) {
    add(0, -30);
    add(1, 30);
  } else {
    std::lock_guard guard(bank_mutex);
    assert(accounts[0] + accounts[1] == 100);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  add(0, 0);
}
