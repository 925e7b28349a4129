// A vector grows under the lock that readers take.
#include <mutex>
#include <vector>

#include "harness.h"

std::vector<int> numbers(1);
std::mutex mutex;
volatile int copy;

static void reader() {
  std::lock_guard<std::mutex> lock(mutex);
  copy = numbers.data()[0];
  reach(1);
}

static void grower() {
  await(1);
  std::lock_guard<std::mutex> lock(mutex);
  int* last = numbers.data();
  last[0] = 2;
}

int main() { run_threads(reader, grower); }
