// Work done by several threads whose results are taken in order, so that the answer does not depend on how many there
// are.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sooth {

// Calls `work(i)` for i = 0, 1, ... below `count`, in up to `jobs` threads, and `take(i, result)` in this order in the
// calling thread, until `take` returns false. Results of work that was started ahead of that, twice `jobs` pieces at
// most, are thrown away. `cancelled` is asked before each piece of work, never while `take` runs; once it says so no
// more is started, and what lies without a gap behind the last one taken is still taken. Returns when no thread is
// left.
template <typename T>
void do_in_order(std::uint64_t count, std::uint32_t jobs, const std::function<T(std::uint64_t)>& work,
                 const std::function<bool(std::uint64_t, T&&)>& take, const std::function<bool()>& cancelled) {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::uint64_t, T> done;
  std::uint64_t next = 0, taken = 0;
  auto active = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::max<std::uint32_t>(jobs, 1), count));
  const std::uint64_t ahead = 2 * std::uint64_t{active};
  bool over = false;
  const auto worker = [&] {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return over || next >= count || next < taken + ahead; });
      if (over || next >= count || cancelled()) {
        break;
      }
      const std::uint64_t i = next++;
      lock.unlock();
      T result = work(i);
      lock.lock();
      done.emplace(i, std::move(result));
      changed.notify_all();
    }
    --active;
    changed.notify_all();
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = active; i > 0; --i) {
    threads.emplace_back(worker);
  }
  std::unique_lock<std::mutex> lock(mutex);
  while (taken < count && !over) {
    changed.wait(lock, [&] { return done.contains(taken) || active == 0; });
    auto found = done.extract(taken);
    if (found.empty()) {
      break;  // cancelled
    }
    over = !take(taken++, std::move(found.mapped()));
    changed.notify_all();
  }
  over = true;
  changed.notify_all();
  lock.unlock();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace sooth
