// Sum and count of measurements have a lock each; whoever computes the average between the two divides by zero.
//
// FAILS: crash: division by zero
// PREEMPTIONS: 1, of the thread that measures between its two sections
#include <mutex>
#include <thread>

template <typename T>
class Guarded {
 public:
  void add(T amount) {
    std::lock_guard lock(mutex_);
    value_ += amount;
  }
  T get() {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  T value_ = 0;
};

Guarded<int> sum;
Guarded<int> count;
volatile int average;

void measure() {
  sum.add(30);
  count.add(1);
}

void report() {
  const int total = sum.get();
  if (total != 0) {
    average = total / count.get();
  }
}

int main() {
  std::thread meter(measure);
  std::thread reporter(report);
  meter.join();
  reporter.join();
}
