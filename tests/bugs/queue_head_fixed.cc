// queue_head without the bug: who moves the head has the element.
#include <atomic>
#include <cassert>
#include <thread>

constexpr int kElements = 4;

std::atomic<int> head{0}, tail{0};
std::atomic<int> elements[kElements];
std::atomic<int> taken[kElements + 1];

void put() {
  for (int i = 0; i < kElements; ++i) {
    elements[i].store(i + 1);
    tail.store(i + 1);
  }
}

void take() {
  for (int tries = 0; tries < kElements; ++tries) {
    int at = head.load();
    if (at >= tail.load()) {
      continue;
    }
    const int element = elements[at].load();
    if (!head.compare_exchange_strong(at, at + 1)) {
      continue;
    }
    assert(taken[element].fetch_add(1) == 0);
  }
}

int main() {
  std::thread producer(put);
  std::thread first(take);
  std::thread second(take);
  producer.join();
  first.join();
  second.join();
}
