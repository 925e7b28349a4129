// barrier_reuse without the bug: each use has a number, and who waits looks at that.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

constexpr int kThreads = 2;

class Barrier {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    if (++arrived_ == kThreads) {
      arrived_ = 0;
      ++use_;
      all_there_.notify_all();
      return;
    }
    all_there_.wait(lock, [this, use = use_] { return use_ != use; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_there_;
  int arrived_ = 0;
  int use_ = 0;
};

Barrier barrier;

void work() {
  barrier.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // what is done between the two
  barrier.wait();
}

int main() {
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
}
