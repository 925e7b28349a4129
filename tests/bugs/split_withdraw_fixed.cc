// The balance is read and written in one section.
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
  void withdraw(int amount) {
    std::lock_guard lock(mutex_);
    balance_ -= amount;
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};

Account account;

void pay(int amount) { account.withdraw(amount); }

int main() {
  std::thread rent(pay, 40);
  std::thread food(pay, 30);
  rent.join();
  food.join();
  assert(account.balance() == 30);
}
