// A server that never changes: three workers for ever, two short threads at a time, a heap that does not grow. Ends
// after as many seconds as its argument says, and prints how many short threads there were.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> stop{false};
std::mutex outer, inner, log_lock;
std::shared_mutex table_lock;
long outer_sum, inner_sum, log_lines;
int table[64];

void request(int number) {
  auto buffer = std::make_unique<std::vector<int>>(256, number);
  long sum = 0;
  for (const int value : *buffer) {
    sum += value;
  }
  {
    const std::shared_lock<std::shared_mutex> lock(table_lock);
    sum += table[number % 64];
  }
  const std::lock_guard<std::mutex> first(outer);
  outer_sum += sum;
  const std::lock_guard<std::mutex> second(inner);
  inner_sum += sum;
}

void work(int number) {
  for (int round = 0; !stop; ++round) {
    request(number);
    {
      const std::lock_guard<std::mutex> lock(log_lock);
      ++log_lines;
    }
    if (number == 0) {
      const std::unique_lock<std::shared_mutex> lock(table_lock);
      ++table[round % 64];
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace

int main(int, char** arguments) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(arguments[1]));
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back(work, i);
  }
  long threads = 0;
  while (std::chrono::steady_clock::now() < end) {
    std::thread one(request, 1), two(request, 2);
    one.join();
    two.join();
    threads += 2;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  stop = true;
  for (std::thread& worker : workers) {
    worker.join();
  }
  std::printf("%ld short threads\n", threads);
}
