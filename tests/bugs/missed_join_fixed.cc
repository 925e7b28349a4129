// All workers are joined before the result is read.
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

constexpr int kWorkers = 3;
std::atomic<int> sum{0};

void add(int part) { sum.fetch_add(part); }

int main() {
  std::array<std::thread, kWorkers> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers[i] = std::thread(add, i + 1);
  }
  for (int i = 0; i < kWorkers; ++i) {
    workers[i].join();
  }
  const int result = sum.load();
  assert(result == 6);
}
