// Whether the queue is empty is asked in one section, and its front taken in another.
#include <cassert>
#include <deque>
#include <mutex>
#include <thread>

std::mutex queue_mutex;
std::deque<int> jobs = {1};

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(queue_mutex);
  if (!jobs.empty()) {
    jobs.pop_front();
  }
}
#else
void work(int) {
  bool any;
  {
    std::lock_guard guard(queue_mutex);
    any = !jobs.empty();
  }
  if (any) {
    std::lock_guard guard(queue_mutex);
    assert(!jobs.empty());
    jobs.pop_front();
  }
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
}
