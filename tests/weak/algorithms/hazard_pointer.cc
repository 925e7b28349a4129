// Hazard pointers. Weakened: the fence between the announcement and the second look at the pointer is not sequentially
// consistent, so the node is reclaimed although it is announced.
#include "order.h"

struct Node {
  std::atomic<bool> is_reclaimed{false};
};
Node node;
std::atomic<Node*> head{&node}, hazard{nullptr};

void use() {
  Node* seen = head.load(relaxed);
  if (seen == nullptr) return;
  hazard.store(seen, relaxed);
  std::atomic_thread_fence(ORDER(seq_cst, acq_rel));
  if (head.load(acquire) == seen) assert(!seen->is_reclaimed.load(relaxed));
  hazard.store(nullptr, release);
}

void retire() {
  Node* old = head.exchange(nullptr, acq_rel);
  std::atomic_thread_fence(seq_cst);
  if (hazard.load(acquire) != old) old->is_reclaimed.store(true, relaxed);
}

int main() { run_both(use, retire); }
