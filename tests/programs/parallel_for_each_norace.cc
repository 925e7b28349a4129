// std::execution::par: each element is somebody's own, and the count of all is an atomic.
// TSAN: skip, it does not see how TBB hands work over
// FLAGS: -ltbb
// OUTPUT: 1000
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <execution>
#include <vector>

int main() {
  std::vector<int> values(1000, 1);
  std::atomic<int> count{0};
  std::for_each(std::execution::par, values.begin(), values.end(), [&count](int& value) {
    value += 1;
    ++count;
  });
  std::printf("%d\n", count.load());
}
