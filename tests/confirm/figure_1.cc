// Figure 1 of Sen: Race Directed Random Testing of Concurrent Programs (PLDI 2008). The numbers are those of the paper.
// There is a race over z; x only looks as if it were raced for: `y` keeps its two statements apart.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

int x = 0, y = 0, z = 0;
std::mutex L;

[[noreturn]] void error(const char* which) {
  std::fprintf(stderr, "%s\n", which);
  std::abort();
}

void thread1() {
  x = 1;  // 1
  L.lock();
  y = 1;  // 3
  L.unlock();
  if (z == 1) {  // 5
    error("ERROR1");
  }
}

void thread2() {
  z = 1;  // 7
  L.lock();
  if (y == 1) {    // 9
    if (x != 1) {  // 10
      error("ERROR2");
    }
  }
  L.unlock();
}

}  // namespace

int main() {
  std::thread first(thread1);
  std::thread second(thread2);
  first.join();
  second.join();
}
