// Sum and count have one lock.
#include <mutex>
#include <thread>

std::mutex mutex;
int sum;
int count;
volatile int average;

void measure() {
  std::lock_guard lock(mutex);
  sum += 30;
  count += 1;
}

void report() {
  std::lock_guard lock(mutex);
  if (sum != 0) {
    average = sum / count;
  }
}

int main() {
  std::thread meter(measure);
  std::thread reporter(report);
  meter.join();
  reporter.join();
}
