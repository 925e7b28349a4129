// Measurements are compared with an offset that another thread calibrates. Alarms have no lock.
//
// In a serial run the offset is right before anything is measured, and there is no alarm.
#include <cmath>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Sensor {
 public:
  void calibrate(const std::vector<double>& references) {
    double sum = 0;
    for (const double reference : references) {
      sum += reference;
    }
    std::lock_guard<std::mutex> guard(mutex_);
    offset_ = sum / static_cast<double>(references.size());
  }
  double corrected(double raw) {
    std::lock_guard<std::mutex> guard(mutex_);
    return raw - offset_;
  }

 private:
  std::mutex mutex_;
  double offset_ = 0;
};

struct Alarm {
  int level = 0;

  void raise(double value) { level = value > 4 ? 2 : 1; }  // RACE(level)
  bool is_quiet() const { return level == 0; }             // RACE(level)
};

}  // namespace

int main() {
  Sensor sensor;
  Alarm alarm;
  bool quiet = false;
  std::thread service([&] {
    sensor.calibrate({2.5, 3.5, 3.0});
    quiet = alarm.is_quiet();
  });
  std::thread measuring([&] {
    for (const double raw : {3.25, 2.75}) {
      const double value = sensor.corrected(raw);
      if (std::fabs(value) > 1.0) {
        alarm.raise(std::fabs(value));
      }
    }
  });
  service.join();
  measuring.join();
  std::cout << quiet << '\n';
}
