// A lock-free stack whose nodes are given back as soon as they are taken: another thread still reads the next one out of the
// node that it saw on top.
//
// FAILS: assertion: a node is read after it was given back
// PREEMPTIONS: 1, of a thread between its look at the top and at what is below
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
  std::atomic<Node*> next{nullptr};
  std::atomic<bool> given_back{false};
};

Node nodes[3];
std::atomic<Node*> top{nullptr};

Node* pop() {
  Node* node = top.load();
  while (node != nullptr) {
    Node* next = node->next.load();
    assert(!node->given_back.load());
    if (top.compare_exchange_strong(node, next)) {
      return node;
    }
  }
  return nullptr;
}

void work() {
  if (Node* node = pop()) {
    node->given_back.store(true);
  }
}

int main() {
  for (Node& node : nodes) {
    node.next.store(top.load());
    top.store(&node);
  }
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}
