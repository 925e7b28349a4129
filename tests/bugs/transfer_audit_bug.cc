// A transfer is two sections, one for each account, and an audit holds both locks: while money is on its way it is nowhere.
//
// FAILS: assertion: the audit misses money
// PREEMPTIONS: 1, of a transfer between its two sections
#include <cassert>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  int money = 100;
};

Account savings, checking, travel;

void transfer(Account& from, Account& to, int amount) {
  {
    std::lock_guard lock(from.mutex);
    from.money -= amount;
  }
  std::lock_guard lock(to.mutex);
  to.money += amount;
}

void audit() {
  std::scoped_lock locks(savings.mutex, checking.mutex, travel.mutex);
  assert(savings.money + checking.money + travel.money == 300);
}

int main() {
  std::thread first([] { transfer(savings, checking, 10); });
  std::thread second([] { transfer(checking, travel, 20); });
  std::thread auditor(audit);
  first.join();
  second.join();
  auditor.join();
}
