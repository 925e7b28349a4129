// The bank account of the README behind a lot of work that is nobody else's business.
//
//     late_account BEFORE BETWEEN AFTER THREADS BESIDE
//
// Rounds of sorting a private vector: in front of the deposit, between the two halves of the query, behind it; and by
// so many threads beside both.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex account_mutex;
static int balance = 100;
static int queries = 0;

static unsigned work(int rounds, unsigned seed) {
  unsigned sum = 0;
  std::vector<unsigned> numbers(10'000);
  for (int round = 0; round < rounds; ++round) {
    for (unsigned& number : numbers) number = seed = seed * 1664525u + 1013904223u;
    std::sort(numbers.begin(), numbers.end());
    sum += numbers[numbers.size() / 2];
  }
  return sum;
}

static void deposit(int amount, int before) {
  work(before, 1);
  std::lock_guard<std::mutex> guard(account_mutex);
  balance += amount;  // RACE a
}

static void print_balance(int between, int after) {
  {
    std::lock_guard<std::mutex> guard(account_mutex);
    ++queries;
  }
  work(between, 2);
  std::printf("balance: %d\n", balance);  // RACE b
  work(after, 3);
}

int main(int count, char** words) {
  int numbers[5] = {};
  for (int i = 0; i < 5 && i + 1 < count; ++i) numbers[i] = std::atoi(words[i + 1]);
  std::vector<std::thread> beside;
  for (int i = 0; i < numbers[3]; ++i) beside.emplace_back(work, numbers[4], 10u + static_cast<unsigned>(i));
  std::thread teller(deposit, 50, numbers[0]);
  std::thread clerk(print_balance, numbers[1], numbers[2]);
  teller.join();
  clerk.join();
  for (std::thread& thread : beside) thread.join();
}
