// The top carries a number that every exchange raises: a top that came back is another one.
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

constexpr int kNone = -1;
struct Node {
  std::atomic<int> next{kNone};
  std::atomic<int> users{0};
};

std::array<Node, 3> nodes;
struct Top {
  int node = kNone;
  int version = 0;
};
std::atomic<Top> top{Top{}};

void push(int node) {
  Top old = top.load();
  do {
    nodes[node].next.store(old.node);
  } while (!top.compare_exchange_weak(old, Top{node, old.version + 1}));
}

int pop() {
  Top old = top.load();
  while (old.node != kNone) {
    const int next = nodes[old.node].next.load();
    if (top.compare_exchange_weak(old, Top{next, old.version + 1})) {
      return old.node;
    }
  }
  return kNone;
}

void take(int node) { assert(node == kNone || nodes[node].users.fetch_add(1) == 0); }
void give_back(int node) {
  if (node != kNone) {
    nodes[node].users.fetch_sub(1);
    push(node);
  }
}

void pop_twice() {
  take(pop());
  take(pop());
}

void pop_and_return() {
  const int first = pop();
  take(first);
  take(pop());  // kept
  give_back(first);
}

int main() {
  for (int node = 2; node >= 0; --node) {
    push(node);
  }
  std::thread one(pop_twice);
  std::thread two(pop_and_return);
  one.join();
  two.join();
}
