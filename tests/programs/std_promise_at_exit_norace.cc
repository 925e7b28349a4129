// A promise that is kept when its thread is over hands on what the thread does before.
// TSAN: skip, it does not see how libstdc++ keeps the promise
// OUTPUT: 7
#include <cstdio>
#include <future>
#include <thread>

int value;

int main() {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  std::thread thread([&promise] {
    promise.set_value_at_thread_exit();
    value = 7;
  });
  future.wait();
  std::printf("%d\n", value);
  thread.join();
}
