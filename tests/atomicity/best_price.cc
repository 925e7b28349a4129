// The best price is read in one section and removed in another, which removes another one.
#include <cassert>
#include <mutex>
#include <set>
#include <thread>

std::mutex book_mutex;
std::multiset<int> prices = {10, 20};
int taken = 0;

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(book_mutex);
  taken += *prices.begin();
  prices.erase(prices.begin());
}
#else
void work(int) {
  int best;
  {
    std::lock_guard guard(book_mutex);
    best = *prices.begin();
  }
  std::lock_guard guard(book_mutex);
  const auto it = prices.find(best);
  assert(it != prices.end());
  prices.erase(it);
  taken += best;
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(taken == 30);
}
