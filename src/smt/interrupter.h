// Ends what cannot look at the clock itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace sooth {

// As long as it exists, a thread asks `out_of_time` again and again and calls `interrupt` when that says so, until
// whoever works has noticed. Without `out_of_time` there is no thread.
class Interrupter {
 public:
  static constexpr std::chrono::milliseconds kPeriod{10};

  Interrupter(const std::function<bool()>& out_of_time, std::function<void()> interrupt) {
    if (out_of_time) {
      watcher_ = std::thread([this, &out_of_time, interrupt = std::move(interrupt)] {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!ended_.wait_for(lock, kPeriod, [this] { return over_; })) {
          if (out_of_time()) {
            interrupt();
          }
        }
      });
    }
  }
  ~Interrupter() {
    if (watcher_.joinable()) {
      {
        const std::lock_guard<std::mutex> guard(mutex_);
        over_ = true;
      }
      ended_.notify_one();
      watcher_.join();
    }
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;  // under mutex_
  std::thread watcher_;
};

}  // namespace sooth
