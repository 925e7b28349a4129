// The size is read in one section and the last element used in another, when it may be gone.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

std::mutex list_mutex;
std::vector<int> list = {1, 2};

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(list_mutex);
  if (me == 1) {
    list[list.size() - 1] = 9;
  } else {
    list.pop_back();
  }
}
#else
void work(int me) {
  if (me == 1) {
    std::size_t size;
    {
      std::lock_guard guard(list_mutex);
      size = list.size();
    }
    std::lock_guard guard(list_mutex);
    assert(size <= list.size());
    list[size - 1] = 9;
  } else {
    std::lock_guard guard(list_mutex);
    list.pop_back();
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
}
