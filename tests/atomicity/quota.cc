// What is left is read in one section and spent in another.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex quota_mutex;
unsigned left_over = 10;

unsigned left() {
  std::lock_guard guard(quota_mutex);
  return left_over;
}

void spend(unsigned amount) {
  std::lock_guard guard(quota_mutex);
  assert(left_over >= amount);
  left_over -= amount;
}

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(quota_mutex);
  if (left_over >= 6) {
    left_over -= 6;
  }
}
#else
void work(int) {
  if (left() >= 6) {
    spend(6);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(left() == 4);
  spend(0);
}
