// A hazard pointer that its thread does not check again: between the load of the pointer and the store of the hazard,
// the writer looks for hazards, finds none, and frees the node.
//
// FAILS: assertion: a freed node is used
// PREEMPTIONS: 1, of the reader between load and store
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
  std::atomic<bool> freed{false};
};

Node nodes[2];
std::atomic<Node*> current{&nodes[0]};
std::atomic<Node*> hazard{nullptr};

void look() {
  Node* node = current.load();
  hazard.store(node);
  assert(!node->freed.load());
  hazard.store(nullptr);
}

void replace() {
  Node* old = current.exchange(&nodes[1]);
  if (hazard.load() != old) {
    old->freed.store(true);
  }
}

int main() {
  std::thread reader(look);
  std::thread writer(replace);
  reader.join();
  writer.join();
}
