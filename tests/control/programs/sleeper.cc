// Sleeps keep the two accesses apart in every ordinary run.
#include <chrono>
#include <cstdio>
#include <thread>

int value = 0, seen = 0;

int main() {
  std::thread writer([] {
    value = 1;  // SITE(1)
  });
  std::thread reader([] {
    std::this_thread::sleep_for(std::chrono::hours(1));
    seen = value;  // SITE(2)
  });
  writer.join();
  reader.join();
  std::printf("%d\n", seen);
}
