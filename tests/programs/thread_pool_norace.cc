// A pool: workers take tasks from a queue until it is closed; results come back through futures; a task hands in another.
// OUTPUT: 4950
// OUTPUT: 20 nested
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
 public:
  explicit Pool(int size) {
    for (int i = 0; i < size; ++i) {
      workers_.emplace_back([this] { work(); });
    }
  }
  ~Pool() {
    {
      std::lock_guard guard(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) {
      worker.join();
    }
  }
  template <typename F>
  std::future<int> submit(F function) {
    auto task = std::make_shared<std::packaged_task<int()>>(function);
    {
      std::lock_guard guard(mutex_);
      tasks_.push_back([task] { (*task)(); });
    }
    changed_.notify_one();
    return task->get_future();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
      if (tasks_.empty()) {
        return;
      }
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool closed_ = false;
  std::vector<std::thread> workers_;
};

int main() {
  int nested = 0;
  std::mutex mutex;
  {
    Pool pool(4);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 100; ++i) {
      results.push_back(pool.submit([i] { return i; }));
    }
    int sum = 0;
    for (std::future<int>& result : results) {
      sum += result.get();
    }
    std::printf("%d\n", sum);
    for (int i = 0; i < 20; ++i) {
      pool.submit([&] {
        pool.submit([&] {
          std::lock_guard guard(mutex);
          return ++nested;
        });
        return 0;
      });
    }
  }
  std::printf("%d nested\n", nested);
}
