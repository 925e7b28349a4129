// Test-and-set lock. Weakened: unlock does not release, so the next owner may miss what was counted.
#include "order.h"

std::atomic<bool> locked{false};
std::atomic<int> counter{0};

void count() {
  for (int i = 0; i < 2; ++i) {
    while (locked.exchange(true, acquire)) {
    }
    counter.store(counter.load(relaxed) + 1, relaxed);
    locked.store(false, ORDER(release, relaxed));
  }
}

int main() {
  run_both(count, count);
  assert(counter.load() == 4);
}
