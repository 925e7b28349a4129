// Both threads run the same code at both sites, each on data of its own: no race, and none may be reported.
#include <cstdio>
#include <mutex>
#include <thread>

int data[2];
std::mutex lock;

void work(int which) {
  for (int i = 0; i < 30; ++i) {
    data[which] = i;            // SITE(1)
    std::lock_guard<std::mutex> hold(lock);
    if (data[which] != i) {     // SITE(2)
      std::puts("never");
    }
  }
}

int main() {
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  std::puts("done");
}
