// A ring that several threads take from: each looks where the head is, takes what is there and moves the head on.
//
// FAILS: assertion: two threads take the same element
// PREEMPTIONS: 1, of one taker between its look and its move
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
    head.store(at + 1);
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
