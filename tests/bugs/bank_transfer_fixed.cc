// Transfer and audit hold both locks.
#include <cassert>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  int balance = 100;
};

Account savings;
Account checking;

void transfer() {
  std::scoped_lock both(savings.mutex, checking.mutex);
  savings.balance -= 30;
  checking.balance += 30;
}

void audit() {
  std::scoped_lock both(checking.mutex, savings.mutex);
  assert(savings.balance + checking.balance == 200);
}

int main() {
  std::thread customer(transfer);
  std::thread auditor(audit);
  customer.join();
  auditor.join();
}
