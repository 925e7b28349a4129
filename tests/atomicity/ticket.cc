// The next number is read in one section and counted up in another: two tickets have the same.
#include <cassert>
#include <mutex>
#include <set>
#include <thread>

std::mutex tickets_mutex;
int next = 1;
std::set<int> sold;

#ifdef REPAIRED
void work(int) {
  std::lock_guard guard(tickets_mutex);
  const bool fresh = sold.insert(next++).second;
  assert(fresh);
}
#else
void work(int) {
  int mine;
  {
    std::lock_guard guard(tickets_mutex);
    mine = next;
  }
  std::lock_guard guard(tickets_mutex);
  next = mine + 1;
  const bool fresh = sold.insert(mine).second;
  assert(fresh);
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
}
