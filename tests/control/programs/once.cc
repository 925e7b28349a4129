// Two plain writes: a schedule decides which is the last.
#include <cstdio>
#include <thread>

int last = 0;

int main() {
  std::thread a([] { last = 1; }), b([] { last = 2; });
  a.join();
  b.join();
  std::printf("%d\n", last);
}
