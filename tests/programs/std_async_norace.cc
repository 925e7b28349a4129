// Whoever has the result of an asynchronous task sees what the task wrote.
#include <future>

#include "harness.h"

int value;

int main() {
  std::future<int> result = std::async(std::launch::async, [] {
    value = 1;
    reach(1);
    return 2;
  });
  result.wait();
  int sum = value;
  return sum + result.get() - 3;
}
