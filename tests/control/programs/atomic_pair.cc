// An atomic store and a plain read of the same variable.
#include <cstdio>
#include <mutex>
#include <thread>

std::mutex lock;
int flag = 0, seen = -1;

int main() {
  std::thread writer([] {
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);  // SITE(1)
    for (int i = 0; i < 5; ++i) std::lock_guard<std::mutex> hold(lock);
  });
  std::thread reader([] {
    for (int i = 0; i < 5; ++i) std::lock_guard<std::mutex> hold(lock);
    seen = flag;  // SITE(2)
  });
  writer.join();
  reader.join();
  std::printf("%d\n", seen);
}
