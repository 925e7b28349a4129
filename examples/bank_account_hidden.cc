// The clerk gives the lock back too early. When the teller happened to come first, the lock orders the two threads and
// the run looks clean; another schedule makes them meet.
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex account_mutex;
static int balance = 100;
static int queries = 0;

static void deposit(int amount) {
  std::lock_guard<std::mutex> guard(account_mutex);
  balance += amount;
}

static void print_balance() {
  {
    std::lock_guard<std::mutex> guard(account_mutex);
    ++queries;
  }
  std::printf("balance: %d\n", balance);
}

int main() {
  std::thread teller(deposit, 50);
  std::thread clerk(print_balance);
  teller.join();
  clerk.join();
}
