// A memcpy over a block and a write into the middle of it.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

std::mutex lock;
char block[100], copy[100];
volatile std::size_t size = sizeof copy;  // unknown to the compiler, which would not call memcpy

int main() {
  std::thread writer([] {
    block[50] = 1;  // SITE(1)
    for (int i = 0; i < 5; ++i) std::lock_guard<std::mutex> hold(lock);
  });
  std::thread reader([] {
    for (int i = 0; i < 5; ++i) std::lock_guard<std::mutex> hold(lock);
    std::size_t bytes = size;
    std::memcpy(copy, block, bytes);  // SITE(2)
  });
  writer.join();
  reader.join();
  std::printf("%d\n", copy[50]);
}
