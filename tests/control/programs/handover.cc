// Figure 1 of the paper in small: the write and the read are far apart in any ordinary run, with locks in between.
#include <cstdio>
#include <mutex>
#include <thread>

std::mutex lock;
int shared = 0, guarded = 0, result = 0;

void first() {
  shared = 1;  // SITE(1)
  for (int i = 0; i < 20; ++i) {
    std::lock_guard<std::mutex> hold(lock);
    ++guarded;
  }
}

void second() {
  for (int i = 0; i < 20; ++i) {
    std::lock_guard<std::mutex> hold(lock);
    ++guarded;
  }
  result = shared;  // SITE(2)
}

int main() {
  std::thread a(first), b(second);
  a.join();
  b.join();
  std::printf("%d %d\n", result, guarded);
}
