// Barrier of a counter and a phase. Weakened: who arrives does not release what it did before.
#include "order.h"

std::atomic<int> missing{2}, phase{0};
std::atomic<int> results[2];

template <int kMe>
void work() {
  results[kMe].store(1, relaxed);
  if (missing.fetch_sub(1, ORDER(acq_rel, acquire)) == 1) {
    phase.store(1, release);
  } else {
    while (phase.load(acquire) == 0) {
    }
  }
  assert(results[1 - kMe].load(relaxed) == 1);
}

int main() { run_both(work<0>, work<1>); }
