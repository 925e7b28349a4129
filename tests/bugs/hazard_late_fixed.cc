// hazard_late without the bug: the pointer is looked at again behind the hazard.
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
  Node* node = nullptr;
  do {
    node = current.load();
    hazard.store(node);
  } while (current.load() != node);
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
