// std::scoped_lock and std::lock take several locks in any order: they wait for one while they hold none, and try the
// others.
#include <mutex>

#include "quiet_steps.h"

std::mutex a;
std::mutex b;
std::mutex c;
int value;

static void one() {
  for (int i = 0; i < 3; ++i) {
    std::scoped_lock all(a, b, c);
    ++value;
  }
}

static void other() {
  for (int i = 0; i < 3; ++i) {
    std::scoped_lock all(c, b, a);
    ++value;
  }
  std::lock(b, a);
  ++value;
  b.unlock();
  a.unlock();
}

int main() {
  run_threads(one, other);
}
