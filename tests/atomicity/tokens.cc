// The bucket is filled in two sections: a fill of another thread is lost.
#include <algorithm>
#include <cassert>
#include <mutex>
#include <thread>

std::mutex bucket_mutex;
int tokens = 3;

#ifdef REPAIRED
void work(int me) {
  std::lock_guard guard(bucket_mutex);
  tokens = std::min(10, tokens + me);
}
#else
void work(int me) {
  int seen;
  {
    std::lock_guard guard(bucket_mutex);
    seen = tokens;
  }
  std::lock_guard guard(bucket_mutex);
  tokens = std::min(10, seen + me);
}
#endif

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  assert(tokens == 6);
}
