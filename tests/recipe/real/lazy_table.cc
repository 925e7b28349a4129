// A table is made on first use, behind an acquire load. How often somebody had to wait for it is counted in a plain
// variable.
//
// In a serial run the first thread makes the table, and the second one finds it.
#include <atomic>
#include <cmath>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Table {
 public:
  double at(std::size_t i) {
    const std::vector<double>* values = ready_.load(std::memory_order_acquire);
    if (values == nullptr) {
      ++slow_;  // RACE(slow)
      std::lock_guard<std::mutex> guard(mutex_);
      if (!made_) {
        made_ = std::make_unique<std::vector<double>>();
        for (int k = 0; k < 8; ++k) {
          made_->push_back(std::sqrt(static_cast<double>(k)));
        }
      }
      values = made_.get();
      ready_.store(values, std::memory_order_release);
    }
    return (*values)[i];
  }
  int slow() const { return slow_; }

 private:
  std::atomic<const std::vector<double>*> ready_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<std::vector<double>> made_;
  int slow_ = 0;
};

}  // namespace

int main() {
  Table table;
  double one = 0, two = 0;
  std::thread first([&] { one = table.at(4); });
  std::thread second([&] { two = table.at(1); });
  first.join();
  second.join();
  std::cout << one + two << ' ' << (table.slow() > 0) << '\n';
}
