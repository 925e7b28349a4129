// A histogram. When there are enough samples, whoever notices looks for the peak, without the lock.
//
// In a serial run the first thread has cleared the samples before the second one looks.
#include <array>
#include <cstddef>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

class Histogram {
 public:
  void add(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    ++buckets_[static_cast<std::size_t>(value) % buckets_.size()];
    ++samples_;
  }
  void clear() {
    std::lock_guard<std::mutex> guard(mutex_);
    buckets_.fill(0);
    samples_ = 0;
  }
  int samples() {
    std::lock_guard<std::mutex> guard(mutex_);
    return samples_;
  }
  std::size_t find_peak() {
    std::lock_guard<std::mutex> guard(mutex_);
    std::size_t best = 0;
    for (std::size_t i = 1; i < buckets_.size(); ++i) {
      if (buckets_[i] > buckets_[best]) {
        best = i;
      }
    }
    return best;
  }

 private:
  std::mutex mutex_;
  std::array<int, 8> buckets_{};
  int samples_ = 0;
};

}  // namespace

int main() {
  Histogram histogram;
  for (const int value : {3, 5, 3, 6, 3}) {
    histogram.add(value);
  }
  std::size_t peak = 99, reported = 0;
  std::thread cleaner([&] {
    histogram.clear();
    histogram.add(1);
    reported = peak;  // RACE(peak)
  });
  std::thread watcher([&] {
    if (histogram.samples() >= 5) {
      peak = histogram.find_peak();  // RACE(peak)
    }
  });
  cleaner.join();
  watcher.join();
  std::cout << histogram.samples() << ' ' << reported << '\n';
}
