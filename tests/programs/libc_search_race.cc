// Sorting reads and writes the array, and calls back, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <search.h>
#include <stdlib.h>

#include "harness.h"

int numbers[4] = {3, 1, 2, 4};
alignas(64) int comparisons;
alignas(64) int keys[4] = {1, 2, 3, 4};
alignas(64) void* root;
Apart copy, result;

static int compare(const void* a, const void* b) {
  comparisons = 1;  // RACE(b)
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
static int compare_keys(const void* a, const void* b) {
  return *static_cast<const int*>(a) -
         *static_cast<const int*>(b);  // RACE(c)
}

static void worker() {
  qsort(numbers, 4, sizeof numbers[0], compare);  // RACE(a)
  int key = 2;
  result.value = bsearch(&key, keys, 4, sizeof keys[0], compare_keys) != nullptr;
  result.value += tsearch(&result, &root, compare_keys) != nullptr;  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = numbers[3];  // RACE(a)
  copy.value += comparisons;  // RACE(b)
  keys[1] = 2;  // RACE(c)
  copy.value += root != nullptr;  // RACE(d)
  join(thread);
}
