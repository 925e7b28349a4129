// The counter is read in one section and written in another: an increment is lost.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex counter_mutex;
int counter = 0;

int get() {
  std::lock_guard guard(counter_mutex);
  return counter;
}

void set(int value) {
  std::lock_guard guard(counter_mutex);
  counter = value;
}

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(counter_mutex);
  ++counter;
}
#else
void work(int) { set(get() + 1); }
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(get() == 2);
  set(0);
}
