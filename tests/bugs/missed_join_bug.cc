// The loop that joins the workers is one short, and the result is read while the last one may still be at work.
//
// FAILS: assertion: a part is missing in the sum
// PREEMPTIONS: 1, of the last worker before it is done (0 where main runs before a worker that has not begun)
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
  for (int i = 0; i < kWorkers - 1; ++i) {
    workers[i].join();
  }
  const int result = sum.load();
  workers.back().join();  // tidy up
  assert(result == 6);
}
