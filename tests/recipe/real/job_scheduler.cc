// Two workers take jobs from a queue, the urgent ones first. What a job costs is added up without the lock.
//
// In a serial run the first worker does all jobs, and the second one finds none.
#include <iostream>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Job {
  int priority = 0;
  std::string name;
  int cost = 0;
  bool operator<(const Job& other) const { return priority < other.priority; }
};

class Scheduler {
 public:
  void add(Job job) {
    std::lock_guard<std::mutex> guard(mutex_);
    jobs_.push(std::move(job));
  }

  void work() {
    for (;;) {
      Job job;
      {
        std::lock_guard<std::mutex> guard(mutex_);
        if (jobs_.empty()) {
          return;
        }
        job = jobs_.top();
        jobs_.pop();
      }
      run(job);
    }
  }

  int cost() const { return cost_; }

 private:
  void run(const Job& job) {
    const int repeats = job.priority > 5 ? 2 : 1;
    cost_ += job.cost * repeats;  // RACE(cost)
  }

  std::mutex mutex_;
  std::priority_queue<Job> jobs_;
  int cost_ = 0;
};

}  // namespace

int main() {
  Scheduler scheduler;
  scheduler.add({1, "clean", 10});
  scheduler.add({9, "serve", 3});
  scheduler.add({4, "index", 7});
  std::thread first([&] { scheduler.work(); });
  std::thread second([&] { scheduler.work(); });
  first.join();
  second.join();
  std::cout << "cost " << scheduler.cost() << '\n';
}
