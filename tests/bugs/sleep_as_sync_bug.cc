// "It is done after 50 ms": main sleeps instead of waiting for the worker.
//
// FAILS: assertion: the result is not there
// PREEMPTIONS: 0; the sleep must end before the worker is done, which takes a busy machine
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
  const int seen = result.load();
  worker.join();
  assert(seen == 55);
}
