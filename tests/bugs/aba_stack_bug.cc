// A lock-free stack of nodes that are used again. Between a pop's look at the top's successor and its exchange, another
// thread takes the two top nodes and gives the first one back: the exchange succeeds and makes a node the top that is in use.
//
// FAILS: assertion: a node is in two hands
// PREEMPTIONS: 1, of a pop before its exchange; the other thread must come to its push before it is preempted in turn
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
std::atomic<int> top{kNone};

void push(int node) {
  int old = top.load();
  do {
    nodes[node].next.store(old);
  } while (!top.compare_exchange_weak(old, node));
}

int pop() {
  int old = top.load();
  while (old != kNone) {
    const int next = nodes[old].next.load();
    if (top.compare_exchange_weak(old, next)) {
      return old;
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
