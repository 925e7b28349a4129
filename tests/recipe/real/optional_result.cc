// An expensive result is kept once somebody has computed it. How often it was computed is counted without the lock.
//
// In a serial run the first thread computes it, and the second one finds it.
#include <iostream>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace {

class Result {
 public:
  explicit Result(std::vector<int> input) : input_(std::move(input)) {}

  int get() {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (value_) {
        return *value_;
      }
    }
    const int value = std::accumulate(input_.begin(), input_.end(), 0);
    computed_++;  // RACE(computed)
    std::lock_guard<std::mutex> guard(mutex_);
    value_ = value;
    return value;
  }
  int computed() const { return computed_; }

 private:
  const std::vector<int> input_;
  std::mutex mutex_;
  std::optional<int> value_;
  int computed_ = 0;
};

}  // namespace

int main() {
  Result result({4, 8, 15, 16, 23, 42});
  int one = 0, two = 0;
  std::thread first([&] { one = result.get(); });
  std::thread second([&] { two = result.get(); });
  first.join();
  second.join();
  std::cout << one + two << ' ' << (result.computed() > 0) << '\n';
}
