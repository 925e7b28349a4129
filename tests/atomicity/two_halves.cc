// The two halves of a value are written in two sections: a reader sees one of each.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex value_mutex;
int low = 0;
int high = 0;

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(value_mutex);
  if (me == 1) {
    low = 5;
    high = 5;
  } else {
    assert(low == high);
  }
}
#else
void work(int me) {
  if (me == 1) {
    {
      std::lock_guard guard(value_mutex);
      low = 5;
    }
    std::lock_guard guard(value_mutex);
    high = 5;
  } else {
    std::lock_guard guard(value_mutex);
    assert(low == high);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
}
