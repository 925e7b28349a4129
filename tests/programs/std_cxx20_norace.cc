// Primitives of C++20 together: stop tokens that end waits, flags, barriers, latches, asynchronous tasks with time limits.
// OUTPUT: stopped 2, flagged, 3 rounds, late, 0 0 1
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static int stop_waits() {
  std::mutex mutex;
  std::condition_variable_any never;
  std::atomic<int> stopped = 0;
  std::jthread waits([&](std::stop_token token) {
    std::unique_lock lock(mutex);
    if (!never.wait(lock, token, [] { return false; }))
      ++stopped;
  });
  std::jthread polls([&](std::stop_token token) {
    while (!token.stop_requested())
      std::this_thread::sleep_for(100us);
    ++stopped;
  });
  std::this_thread::sleep_for(1ms);
  waits.request_stop();
  polls.request_stop();
  waits.join();
  polls.join();
  return stopped;
}

static bool raise_flag() {
  std::atomic_flag flag;
  std::jthread raises([&] {
    std::this_thread::sleep_for(1ms);
    flag.test_and_set();
    flag.notify_all();
  });
  flag.wait(false);
  return flag.test();
}

static int rounds_of_barrier() {
  int rounds = 0;
  std::barrier barrier(3, [&]() noexcept { ++rounds; });
  std::latch latch(3);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 3; ++k)
        barrier.arrive_and_wait();
      latch.arrive_and_wait();
    });
  }
  threads.clear();
  return rounds;
}

int main() {
  int stopped = stop_waits();
  bool flagged = raise_flag();
  int rounds = rounds_of_barrier();
  std::shared_timed_mutex shared;
  std::timed_mutex timed;
  shared.lock();
  timed.lock();
  auto reader = std::async(std::launch::async, [&] { return shared.try_lock_shared_for(20ms); });
  auto writer = std::async(std::launch::async, [&] { return timed.try_lock_for(20ms); });
  auto lazy = std::async(std::launch::deferred, [] { return 1; });
  std::promise<int> never;
  bool late = never.get_future().wait_for(1ms) == std::future_status::timeout;
  int results[] = {reader.get(), writer.get(), lazy.get()};
  shared.unlock();
  timed.unlock();
  std::printf("stopped %d, %s, %d rounds, %s, %d %d %d\n", stopped, flagged ? "flagged" : "not flagged", rounds,
              late ? "late" : "early", results[0], results[1], results[2]);
}
