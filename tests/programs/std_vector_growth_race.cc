// A vector grows while another thread reads an element.
#include <mutex>
#include <vector>

#include "harness.h"

std::vector<int> numbers(1);
std::mutex mutex;
volatile int copy;

static void reader() {
  copy = numbers.data()[0];  // RACE(a)
  reach(1);
}

static void grower() {
  await(1);
  int* last = numbers.data();
  last[0] = 2;  // RACE(a)
}

int main() { run_threads(reader, grower); }
