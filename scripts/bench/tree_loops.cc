// A program of loops for tree.py: each thread looks at a shared table, with a lock that is its own, and then
// smooths an array of its own, pass after pass. Prints how much processor time the program took meanwhile, in seconds.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2;
constexpr int kElements = 256;
constexpr int kPasses = 10;  // for each look

int table[kElements];

struct Worker {
  std::mutex lock;
  int cells[kElements];
  int sum = 0;

  __attribute__((noinline)) int smooth(int i) { return (cells[i - 1] + 2 * cells[i] + cells[i + 1]) / 4; }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      {
        const std::lock_guard<std::mutex> guard(lock);
        for (int i = 0; i < kElements; ++i) sum += table[i];
      }
      for (int pass = 0; pass < kPasses; ++pass) {
        for (int i = 1; i + 1 < kElements; ++i) cells[i] = smooth(i) + sum % 2;
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  for (int i = 0; i < kElements; ++i) table[i] = rounds % (i + 1);
  static Worker workers[kThreads];
  const std::clock_t start = std::clock();
  std::vector<std::thread> threads;
  for (Worker& worker : workers) threads.emplace_back([&worker, rounds] { worker.run(rounds); });
  for (std::thread& thread : threads) thread.join();
  std::printf("%.6f\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
}
