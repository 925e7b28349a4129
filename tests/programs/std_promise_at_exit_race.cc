// A promise that is kept at once hands on nothing of what its thread does afterwards.
#include <future>
#include <thread>

#include "harness.h"

int value;
volatile int copy;

int main() {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  std::thread thread([&promise] {
    promise.set_value();
    value = 7;  // RACE(a)
    reach(1);
  });
  future.wait();
  await(1);
  copy = value;  // RACE(a)
  thread.join();
}
