// Where to write is read in one section, and written there in another: one line overwrites the other.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex log_mutex;
int lines[4] = {};
int used = 0;

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(log_mutex);
  lines[used++] = me;
}
#else
void work(int me) {
  int at;
  {
    std::lock_guard guard(log_mutex);
    at = used;
  }
  std::lock_guard guard(log_mutex);
  lines[at] = me;
  used = at + 1;
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(used == 2);
}
