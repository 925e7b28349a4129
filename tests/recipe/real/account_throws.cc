// Withdrawing what is not there throws. The last one who got money is noted without the lock.
//
// In a serial run the first thread takes nearly all, and the second one gets an exception.
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

class NoMoney : public std::runtime_error {
 public:
  explicit NoMoney(int missing) : std::runtime_error("missing " + std::to_string(missing)), missing_(missing) {}
  int missing() const { return missing_; }

 private:
  int missing_;
};

class Account {
 public:
  explicit Account(int balance) : balance_(balance) {}

  void withdraw(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (amount > balance_) {
      throw NoMoney(amount - balance_);
    }
    balance_ -= amount;
  }
  int balance() {
    std::lock_guard<std::mutex> guard(mutex_);
    return balance_;
  }

 private:
  std::mutex mutex_;
  int balance_;
};

int last_client = 0;
int missing = 0;
std::mutex failing;

void fail(const NoMoney& problem) {
  std::lock_guard<std::mutex> guard(failing);
  missing += problem.missing();
}

}  // namespace

int main() {
  Account account(100);
  int noted = 0;
  std::thread first([&] {
    try {
      noted = last_client;  // RACE(last)
      account.withdraw(90);
    } catch (const NoMoney& problem) {
      fail(problem);
    }
  });
  std::thread second([&] {
    try {
      account.withdraw(20);
      last_client = 2;  // RACE(last)
    } catch (const NoMoney& problem) {
      fail(problem);
    }
  });
  first.join();
  second.join();
  std::cout << account.balance() << ' ' << missing << ' ' << noted << '\n';
}
