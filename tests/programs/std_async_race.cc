// What an asynchronous task writes is read before anybody has asked for its result.
#include <future>

#include "harness.h"

int value;

int main() {
  std::future<int> result = std::async(std::launch::async, [] {
    value = 1;  // RACE(a)
    reach(1);
    return 2;
  });
  await(1);
  int sum = value;  // RACE(a)
  return sum + result.get() - 3;
}
