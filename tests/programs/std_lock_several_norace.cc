// std::lock takes both locks, and the other thread the one that matters.
#include <mutex>

#include "harness.h"

std::mutex red, blue;
int value;

static void both() {
  std::lock(red, blue);
  std::lock_guard<std::mutex> first(red, std::adopt_lock);
  std::lock_guard<std::mutex> second(blue, std::adopt_lock);
  value = 1;
  reach(1);
}

static void one() {
  await(1);
  std::lock_guard<std::mutex> lock(blue);
  value = 2;
}

int main() { run_threads(both, one); }
