// The look and the deed are one section.
#include <cassert>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

class Jobs {
 public:
  void add(int job) {
    std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  bool empty() {
    std::lock_guard lock(mutex_);
    return jobs_.empty();
  }
  int take() {
    std::lock_guard lock(mutex_);
    assert(!jobs_.empty());
    const int job = jobs_.front();
    jobs_.pop_front();
    return job;
  }
  std::optional<int> try_take() {
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) {
      return std::nullopt;
    }
    const int job = jobs_.front();
    jobs_.pop_front();
    return job;
  }

 private:
  std::mutex mutex_;
  std::deque<int> jobs_;
};

Jobs jobs;
std::mutex sum_mutex;
int sum = 0;

void work() {
  while (const std::optional<int> job = jobs.try_take()) {
    std::lock_guard lock(sum_mutex);
    sum += *job;
  }
}

int main() {
  for (int job = 1; job <= 3; ++job) {
    jobs.add(job);
  }
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  assert(sum == 6);
}
