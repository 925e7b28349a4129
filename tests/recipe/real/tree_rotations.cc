// A search tree that is rotated when one side becomes too deep. How often a reader found it unbalanced is counted
// without the lock.
//
// In a serial run the reader sees the tree after the rotation.
#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace {

struct Node {
  explicit Node(int k) : key(k) {}
  int key;
  int height = 1;
  std::unique_ptr<Node> left, right;
};

int height(const std::unique_ptr<Node>& node) { return node ? node->height : 0; }
void measure(Node& node) { node.height = 1 + std::max(height(node.left), height(node.right)); }

class Tree {
 public:
  void insert(int key) {
    std::lock_guard<std::mutex> guard(mutex_);
    std::unique_ptr<Node>* at = &root_;
    while (*at) {
      at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    }
    *at = std::make_unique<Node>(key);
    update(root_.get());
  }
  void rebalance() {
    std::lock_guard<std::mutex> guard(mutex_);
    if (root_ && height(root_->right) > height(root_->left) + 1) {
      std::unique_ptr<Node> top = std::move(root_->right);
      root_->right = std::move(top->left);
      measure(*root_);
      top->left = std::move(root_);
      root_ = std::move(top);
      measure(*root_);
    }
  }
  int depth() {
    std::lock_guard<std::mutex> guard(mutex_);
    return height(root_);
  }

 private:
  static void update(Node* node) {
    if (node != nullptr) {
      update(node->left.get());
      update(node->right.get());
      measure(*node);
    }
  }

  std::mutex mutex_;
  std::unique_ptr<Node> root_;
};

int unbalanced = 0;

}  // namespace

int main() {
  Tree tree;
  tree.insert(1);
  tree.insert(2);
  tree.insert(3);
  int seen = 0;
  std::thread keeper([&] {
    tree.rebalance();
    seen = unbalanced;  // RACE(unbalanced)
  });
  std::thread reader([&] {
    if (tree.depth() > 2) {
      ++unbalanced;  // RACE(unbalanced)
    }
  });
  keeper.join();
  reader.join();
  std::cout << tree.depth() << ' ' << seen << '\n';
}
