// transfer_audit without the bug: a transfer holds both locks.
#include <cassert>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  int money = 100;
};

Account savings, checking, travel;

void transfer(Account& from, Account& to, int amount) {
  std::scoped_lock locks(from.mutex, to.mutex);
  from.money -= amount;
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
