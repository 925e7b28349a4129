// An item leaves one list in one section and enters the other in another: for a while it is nowhere.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

std::mutex lists_mutex;
std::vector<int> waiting = {1, 2};
std::vector<int> running;

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(lists_mutex);
  if (me == 1) {
    running.push_back(waiting.back());
    waiting.pop_back();
  } else {
    assert(waiting.size() + running.size() == 2);
  }
}
#else
void work(int me) {
  if (me == 1) {
    int item;
    {
      std::lock_guard guard(lists_mutex);
      item = waiting.back();
      waiting.pop_back();
    }
    std::lock_guard guard(lists_mutex);
    running.push_back(item);
  } else {
    std::lock_guard guard(lists_mutex);
    assert(waiting.size() + running.size() == 2);
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
}
