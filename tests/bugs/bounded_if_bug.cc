// A consumer that was woken does not look again whether there is something: another one may have been faster.
//
// FAILS: assertion: the queue is empty
// PREEMPTIONS: 1, of the producer between its items; the second consumer then takes what the first was woken for
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
  if (queue.empty()) {
    filled.wait(lock);
  }
  assert(!queue.empty());
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
