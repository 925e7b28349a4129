// Queue of one producer and one consumer. Weakened: the producer does not release what it has put in.
#include "order.h"

std::atomic<int> slots[2];
std::atomic<unsigned> head{0}, tail{0};

void produce() {
  for (unsigned i = 0; i < 3; ++i) {
    while (i - head.load(acquire) == 2) {
    }
    slots[i % 2].store(static_cast<int>(i) + 1, relaxed);
    tail.store(i + 1, ORDER(release, relaxed));
  }
}

void consume() {
  for (unsigned i = 0; i < 3; ++i) {
    while (tail.load(acquire) == i) {
    }
    assert(slots[i % 2].load(relaxed) == static_cast<int>(i) + 1);
    head.store(i + 1, release);
  }
}

int main() { run_both(produce, consume); }
