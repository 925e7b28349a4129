// Two threads take turns at a mutex and a counter behind it: what recording synchronisation costs.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

int main(int, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  std::mutex mutex;
  long counter = 0;
  const auto work = [&] {
    for (int round = 0; round < rounds; ++round) {
      const std::lock_guard<std::mutex> guard(mutex);
      ++counter;
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  std::printf("%ld\n", counter);
}
