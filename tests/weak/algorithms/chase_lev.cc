// Work-stealing deque as in Le, Pop, Cohen, Nardelli, Correct and efficient work-stealing for weak memory models, PPoPP 2013.
// Weakened: the fence of take() is not sequentially consistent, so owner and thief get the same element.
#include "order.h"

std::atomic<long> top{0}, bottom{0};
std::atomic<int> elements[4];
std::atomic<int> taken[4];

void got(int element) { assert(taken[element].fetch_add(1, relaxed) == 0); }

void push(int element) {
  const long b = bottom.load(relaxed);
  elements[b].store(element, relaxed);
  std::atomic_thread_fence(release);
  bottom.store(b + 1, relaxed);
}

void take() {
  const long b = bottom.load(relaxed) - 1;
  bottom.store(b, relaxed);
  std::atomic_thread_fence(ORDER(seq_cst, acq_rel));
  long t = top.load(relaxed);
  if (t > b) {
    bottom.store(b + 1, relaxed);
    return;
  }
  const int element = elements[b].load(relaxed);
  if (t == b) {
    const bool won = top.compare_exchange_strong(t, t + 1, seq_cst, relaxed);
    bottom.store(b + 1, relaxed);
    if (!won) return;
  }
  got(element);
}

void steal() {
  long t = top.load(acquire);
  std::atomic_thread_fence(seq_cst);
  const long b = bottom.load(acquire);
  if (t >= b) return;
  const int element = elements[t].load(relaxed);
  if (top.compare_exchange_strong(t, t + 1, seq_cst, relaxed)) got(element);
}

int main() {
  push(0);
  push(1);
  run_both(
      [] {
        take();
        take();
      },
      [] {
        steal();
        steal();
      });
}
