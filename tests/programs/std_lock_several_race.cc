// std::lock takes both locks; the other thread takes one, and not the one that matters.
#include <mutex>

#include "harness.h"

std::mutex red, blue;
int value;

static void both() {
  std::lock(red, blue);
  std::lock_guard<std::mutex> first(red, std::adopt_lock);
  blue.unlock();
  value = 1;  // RACE(a)
  reach(1);
}

static void one() {
  await(1);
  std::lock_guard<std::mutex> lock(blue);
  value = 2;  // RACE(a)
}

int main() { run_threads(both, one); }
