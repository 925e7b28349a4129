// stack_next without the bug: nodes are given back when all threads are done.
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

Node* popped[2];

void work(int thread) { popped[thread] = pop(); }

int main() {
  for (Node& node : nodes) {
    node.next.store(top.load());
    top.store(&node);
  }
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
  for (Node* node : popped) {
    node->given_back.store(true);
  }
}
