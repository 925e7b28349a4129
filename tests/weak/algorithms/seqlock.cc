// Sequence lock as in Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012. Weakened: no acquire
// fence between the data and the second look at the sequence.
#include "order.h"

std::atomic<unsigned> sequence{0};
std::atomic<int> left{0}, right{0};

void change() {
  for (int version = 1; version <= 2; ++version) {
    sequence.store(2 * version - 1, relaxed);
    std::atomic_thread_fence(release);
    left.store(version, relaxed);
    right.store(version, relaxed);
    sequence.store(2 * version, release);
  }
}

void look() {
  for (int i = 0; i < 4; ++i) {
    const unsigned before = sequence.load(acquire);
    const int a = left.load(relaxed), b = right.load(relaxed);
    std::atomic_thread_fence(ORDER(acquire, relaxed));
    const unsigned behind = sequence.load(relaxed);
    assert(before != behind || before % 2 != 0 || a == b);
  }
}

int main() { run_both(change, look); }
