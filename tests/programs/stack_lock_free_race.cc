// A lock-free stack whose push publishes a node before it is filled in.
#include "harness.h"

struct Node {
  Node* next;
  int value;
};

Node node;
Node* head;
volatile int copy;

static void push() {
  node.next = __atomic_load_n(&head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&head, &node.next, &node, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  node.value = 1;  // RACE(a)
  reach(1);
}

static void pop() {
  await(1);
  Node* top = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
  if (top != nullptr) copy = top->value;  // RACE(a)
}

int main() { run_threads(push, pop); }
