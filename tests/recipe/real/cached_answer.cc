// A value that one thread fills in, and another one asks for. Answers that are not there yet are counted without the
// lock. The value and whether it is there are read at once, with the padding of both.
//
// In a serial run the value is there when the second thread asks.
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

namespace {

class Cache {
 public:
  void fill(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    value_ = value * value;
  }

  int get() {
    std::optional<int> copy;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      copy = value_;
    }
    if (!copy.has_value()) {
      ++misses_;  // RACE(misses)
      return 0;
    }
    return *copy;
  }

  int misses() const {
    return misses_;  // RACE(misses)
  }

 private:
  std::mutex mutex_;
  std::optional<int> value_;
  int misses_ = 0;
};

Cache cache;

}  // namespace

int main() {
  int seen = 0, got = 0;
  std::thread filler([&] {
    cache.fill(7);
    seen = cache.misses();
  });
  std::thread user([&] { got = cache.get(); });
  filler.join();
  user.join();
  std::cout << got << ' ' << seen << '\n';
}
