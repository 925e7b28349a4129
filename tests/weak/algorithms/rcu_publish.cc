// A configuration is replaced by another, read-copy-update. Weakened: the pointer is published without release.
#include "order.h"

struct Configuration {
  std::atomic<int> low{0}, high{0};
};
Configuration versions[2];
std::atomic<Configuration*> current{&versions[0]};

void replace() {
  versions[1].low.store(10, relaxed);
  versions[1].high.store(20, relaxed);
  current.store(&versions[1], ORDER(release, relaxed));
}

void use() {
  const Configuration* seen = current.load(std::memory_order_consume);
  assert(2 * seen->low.load(relaxed) == seen->high.load(relaxed));
}

int main() { run_both(replace, use); }
