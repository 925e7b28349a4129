// Every access holds the lock, but the deposit is two sections: what another thread deposits between them is lost.
//
// FAILS: assertion: a deposit is missing
// PREEMPTIONS: 1, of one thread between its two sections
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }
  void set_balance(int amount) {
    std::lock_guard lock(mutex_);
    balance_ = amount;
  }

 private:
  std::mutex mutex_;
  int balance_ = 0;
};

Account account;

void deposit(int amount) {
  const int before = account.balance();
  account.set_balance(before + amount);
}

int main() {
  std::thread salary(deposit, 100);
  std::thread refund(deposit, 20);
  salary.join();
  refund.join();
  assert(account.balance() == 120);
}
