// A reference is dropped in one section, and whether it was the last one asked in another: nobody or both free it.
#include <cassert>
#include <mutex>
#include <thread>

std::mutex object_mutex;
int references = 2;
int freed = 0;

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(object_mutex);
  if (--references == 0) {
    ++freed;
  }
}
#else
void work(int) {
  {
    std::lock_guard guard(object_mutex);
    --references;
  }
  std::lock_guard guard(object_mutex);
  if (references == 0) {
    ++freed;
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(freed == 1);
}
