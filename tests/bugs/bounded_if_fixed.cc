// It looks again whenever it was woken.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable filled;
std::deque<int> queue;
int sum;

void consume() {
  std::unique_lock lock(mutex);
  while (queue.empty()) {
    filled.wait(lock);
  }
  sum += queue.front();
  queue.pop_front();
}

void produce() {
  for (int item = 1; item <= 2; ++item) {
    std::lock_guard lock(mutex);
    queue.push_back(item);
    filled.notify_one();
  }
}

int main() {
  std::thread first(consume);
  std::thread second(consume);
  std::thread producer(produce);
  first.join();
  second.join();
  producer.join();
  assert(sum == 3);
}
