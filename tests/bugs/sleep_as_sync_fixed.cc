// The worker is joined before its result is read.
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

std::atomic<int> result{0};

void compute() {
  int sum = 0;
  for (int i = 1; i <= 10; ++i) {
    sum += i;
  }
  result.store(sum);
}

int main() {
  std::thread worker(compute);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  worker.join();
  const int seen = result.load();
  assert(seen == 55);
}
