// spsc_publish without the bug: the slot is filled first.
#include <atomic>
#include <cassert>
#include <thread>

constexpr int kSlots = 4;
std::atomic<int> slots[kSlots];
std::atomic<int> tail{0};

void produce() {
  for (int i = 0; i < 3; ++i) {
    slots[i].store(i + 1);
    tail.store(i + 1);
  }
}

void consume() {
  for (int head = 0; head < tail.load() && head < 3; ++head) {
    assert(slots[head].load() == head + 1);
  }
}

int main() {
  std::thread producer(produce);
  std::thread consumer(consume);
  producer.join();
  consumer.join();
}
