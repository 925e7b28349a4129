// Peterson's lock. Weakened: the look at the other's flag is no part of the total order. With -DPLAIN it guards a plain
// variable, and nothing fails: there is a data race then.
#include "order.h"

std::atomic<bool> wants[2];
std::atomic<int> turn{0};
std::atomic<int> inside{0};
int guarded = 0;

template <int kMe>
void enter() {
  wants[kMe].store(true, seq_cst);
  turn.store(1 - kMe, seq_cst);
  while (wants[1 - kMe].load(ORDER(seq_cst, acquire)) && turn.load(seq_cst) == 1 - kMe) {
  }
#ifdef PLAIN
  ++guarded;
#else
  assert(inside.fetch_add(1, relaxed) == 0);
  inside.fetch_sub(1, relaxed);
#endif
  wants[kMe].store(false, seq_cst);
}

int main() { run_both(enter<0>, enter<1>); }
