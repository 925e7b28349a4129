// A deposit is one section.
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }
  void deposit(int amount) {
    std::lock_guard lock(mutex_);
    balance_ += amount;
  }

 private:
  std::mutex mutex_;
  int balance_ = 0;
};

Account account;

int main() {
  std::thread salary(&Account::deposit, &account, 100);
  std::thread refund(&Account::deposit, &account, 20);
  salary.join();
  refund.join();
  assert(account.balance() == 120);
}
