// A free seat is looked for in one section and taken in another: two people sit on it.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex seats_mutex;
int seats[4] = {9, 9, 0, 0};

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(seats_mutex);
  for (int i = 0; i < 4; ++i) {
    if (seats[i] == 0) {
      seats[i] = me;
      return;
    }
  }
}
#else
void work(int me) {
  int free = -1;
  {
    std::lock_guard guard(seats_mutex);
    for (int i = 0; i < 4 && free < 0; ++i) {
      free = seats[i] == 0 ? i : -1;
    }
  }
  if (free >= 0) {
    std::lock_guard guard(seats_mutex);
    assert(seats[free] == 0);
    seats[free] = me;
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
}
