// Measured temperatures and their mean. Heating is switched by whoever finds that it is too cold, without a lock.
//
// In a serial run warm values have been measured before the second thread looks at the mean.
#include <cmath>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Thermometer {
 public:
  void measure(double degrees) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (values_.size() == 4) {
      values_.erase(values_.begin());
    }
    values_.push_back(degrees);
  }
  double mean() {
    std::lock_guard<std::mutex> guard(mutex_);
    double sum = 0;
    for (const double value : values_) {
      sum += value;
    }
    return values_.empty() ? std::nan("") : sum / static_cast<double>(values_.size());
  }

 private:
  std::mutex mutex_;
  std::vector<double> values_;
};

struct Heating {
  bool on = false;
  int switched = 0;
};

void regulate(Thermometer& thermometer, Heating& heating, double wanted) {
  const double mean = thermometer.mean();
  if (mean < wanted - 0.5) {
    heating.on = true;
    ++heating.switched;  // RACE(switched)
  }
}

}  // namespace

int main() {
  Thermometer thermometer;
  thermometer.measure(17.5);
  thermometer.measure(18.25);
  Heating heating;
  int seen = 0;
  std::thread sensor([&] {
    thermometer.measure(24.0);
    thermometer.measure(26.5);
    seen = heating.switched;  // RACE(switched)
  });
  std::thread control([&] { regulate(thermometer, heating, 20.0); });
  sensor.join();
  control.join();
  std::cout << seen << '\n';
}
