// std::thread and lambdas: join orders them.
#include <thread>

int main() {
  int value = 0;
  std::thread first([&] { value = 1; });
  first.join();
  std::thread second([&] { value = 2; });
  second.join();
}
