// A promise is kept before the rest of the message is written.
// OUTPUT: 6
#include <cstdio>
#include <future>
#include <thread>

int message;

int main() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread keeper([&promise] {
    promise.set_value(1);
    message = 1;  // RACE(a)
  });
  int sum = future.get();
  message = 2;  // RACE(a)
  keeper.join();

  std::packaged_task<int(int)> task([](int number) {
    message = 3;
    return number;
  });
  std::future<int> result = task.get_future();
  std::thread worker(std::move(task), 2);
  sum += result.get();
  message = 4;
  worker.join();

  std::future<int> async = std::async(std::launch::async, [] {
    message = 5;
    return 3;
  });
  sum += async.get();
  message = 6;
  std::printf("%d\n", sum);
}
