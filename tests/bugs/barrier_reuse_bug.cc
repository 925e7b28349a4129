// A barrier made of a counter and a condition is used twice: the last one sets the counter back, and who comes to the second use
// takes a place before the others have left the first.
//
// FAILS: deadlock: a thread of the first use sees the counter of the second and waits on
// PREEMPTIONS: 1, of the thread that was woken, before it has looked again, for as long as the other works
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
      all_there_.notify_all();
      return;
    }
    all_there_.wait(lock, [this] { return arrived_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_there_;
  int arrived_ = 0;
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
