// std::execution::par: two elements wait for each other, so that two threads have them, and write one variable.
// TSAN: skip, it does not see how TBB hands work over
// FLAGS: -ltbb
#include <algorithm>
#include <execution>
#include <vector>

#include "harness.h"

int total;

int main() {
  std::vector<int> values(2, 1);
  std::for_each(std::execution::par, values.begin(), values.end(), [](int& value) {
    reach_one_more();
    await(2);
    total += value;  // RACE(a)
  });
}
