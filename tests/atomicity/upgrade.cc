// A lock is given back as a reader and taken again as a writer: what was read is old.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex version_mutex;
int version = 0;

#ifdef REPAIRED
void work(int) {
  std::unique_lock guard(version_mutex);
  ++version;
}
#else
void work(int) {
  int seen;
  {
    std::shared_lock guard(version_mutex);
    seen = version;
  }
  std::unique_lock guard(version_mutex);
  version = seen + 1;
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(version == 2);
}
