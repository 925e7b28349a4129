// Treiber's stack. Weakened: push() does not release the node that it publishes.
#include "order.h"

struct Node {
  std::atomic<int> value{0};
  std::atomic<Node*> next{nullptr};
};
Node nodes[2];
std::atomic<Node*> top{nullptr};

void push() {
  for (Node& node : nodes) {
    node.value.store(42, relaxed);
    Node* seen = top.load(relaxed);
    do {
      node.next.store(seen, relaxed);
    } while (!top.compare_exchange_weak(seen, &node, ORDER(release, relaxed), relaxed));
  }
}

void pop() {
  for (int i = 0; i < 2; ++i) {
    Node* seen = top.load(acquire);
    while (seen != nullptr && !top.compare_exchange_weak(seen, seen->next.load(relaxed), acquire, acquire)) {
    }
    assert(seen == nullptr || seen->value.load(relaxed) == 42);
  }
}

int main() { run_both(push, pop); }
