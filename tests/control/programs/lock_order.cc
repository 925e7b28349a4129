// Two locks in both orders.
#include <cstdio>
#include <mutex>
#include <thread>

std::mutex a, b;

int main() {
  std::thread one([] {
    std::lock_guard<std::mutex> outer(a);
    std::lock_guard<std::mutex> inner(b);
  });
  std::thread two([] {
    std::lock_guard<std::mutex> outer(b);
    std::lock_guard<std::mutex> inner(a);
  });
  one.join();
  two.join();
  std::puts("done");
}
