// The same account, done right: every access to the balance holds the lock.
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex account_mutex;
static int balance = 100;

static void deposit(int amount) {
  std::lock_guard<std::mutex> guard(account_mutex);
  balance += amount;
}

static void print_balance() {
  std::lock_guard<std::mutex> guard(account_mutex);
  std::printf("balance: %d\n", balance);
}

int main() {
  std::thread teller(deposit, 50);
  std::thread clerk(print_balance);
  teller.join();
  clerk.join();
}
