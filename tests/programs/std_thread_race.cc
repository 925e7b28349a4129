// std::thread and lambdas: both write what they captured by reference.
#include <thread>

int main() {
  int value = 0;
  std::thread first([&] {
    value = 1;  // RACE(a)
  });
  std::thread second([&] {
    value = 2;  // RACE(a)
  });
  first.join();
  second.join();
}
