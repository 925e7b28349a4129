// Each account has its lock, and a transfer takes them one after the other: an audit in between finds money missing.
//
// FAILS: assertion: the sum is wrong
// PREEMPTIONS: 1, of the transfer between its two accounts, or of the audit between its own
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  void add(int amount) {
    std::lock_guard lock(mutex_);
    balance_ += amount;
  }
  int balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};

Account savings;
Account checking;

void transfer() {
  savings.add(-30);
  checking.add(30);
}

void audit() { assert(savings.balance() + checking.balance() == 200); }

int main() {
  std::thread customer(transfer);
  std::thread auditor(audit);
  customer.join();
  auditor.join();
}
