// A thread pool as programs have them: jobs are std::function, results go through promises, exceptions cross threads, jobs share a std::map behind a lock, and objects
// live as long as a shared_ptr to them. The lock is right; a look at `pending_` is without it.
//
// The race: size_hint() with work(). Whoever calls submit() is the one who looks.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  template <typename F>
  auto submit(F job) -> std::future<decltype(job())> {
    auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
    std::future<decltype(job())> result = task->get_future();
    {
      std::lock_guard<std::mutex> guard(mutex_);
      jobs_.emplace_back([task] { (*task)(); });
      ++pending_;
    }
    changed_.notify_one();
    return result;
  }

  int size_hint() const { return pending_; }  // RACE(take)

 private:
  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) {
          return;
        }
        job = std::move(jobs_.front());
        jobs_.pop_front();
        --pending_;  // RACE(take)
      }
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  int pending_ = 0;
  bool closed_ = false;
};

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};
struct Disc : Shape {
  explicit Disc(double radius) : radius(radius) {}
  double area() const override { return 3.14159 * radius * radius; }
  double radius;
};

// Counts words of all jobs together.
class Words {
 public:
  void add(const std::string& word) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (word.empty()) {
      throw std::invalid_argument("an empty word");
    }
    ++counts_[word];
  }
  std::optional<int> count(const std::string& word) const {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto at = counts_.find(word);
    return at == counts_.end() ? std::nullopt : std::optional<int>(at->second);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> counts_;
};

int split(const std::shared_ptr<Words>& words, const std::string& text) {
  int added = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++added) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words->add(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return added;
}

}  // namespace

int main() {
  auto words = std::make_shared<Words>();
  int added = 0, failed = 0, most = 0;
  double area = 0;
  {
    Pool pool(3);
    std::vector<std::future<int>> counts;
    for (const char* text : {"the lazy dog", "the quick brown fox", "two  blanks", "the end"}) {
      counts.push_back(pool.submit([words, text = std::string(text)] { return split(words, text); }));
      most = std::max(most, pool.size_hint());
    }
    std::vector<std::shared_ptr<const Shape>> shapes = {std::make_shared<Square>(2), std::make_shared<Disc>(1)};
    auto areas = pool.submit([shapes] {
      double sum = 0;
      for (const auto& shape : shapes) {
        sum += shape->area();
      }
      return sum;
    });
    for (std::future<int>& count : counts) {
      try {
        added += count.get();
      } catch (const std::invalid_argument& wrong) {
        ++failed;
      }
    }
    area = areas.get();
  }
  std::printf("%d words, %d failed, \"the\" %d times, area %.2f, %s\n", added, failed, words->count("the").value_or(0), area,
              most <= 4 ? "few at a time" : "too many");
}
