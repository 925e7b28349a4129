// The balance is read in one section, and what is left is written in another: a withdrawal of another thread in between is
// lost. No race: every access is locked.
//
// FAILS: assertion: money is there that was taken out
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
  void set_balance(int balance) {
    std::lock_guard lock(mutex_);
    balance_ = balance;
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};

Account account;

void pay(int amount) {
  const int before = account.balance();
  account.set_balance(before - amount);
}

int main() {
  std::thread rent(pay, 40);
  std::thread food(pay, 30);
  rent.join();
  food.join();
  assert(account.balance() == 30);
}
