// What is too long is refused with an exception, whose handler counts it without a lock.
//
// In a serial run the limit has been raised before anything is validated, and nothing is refused.
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

class Validator {
 public:
  void raise(std::size_t limit) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (limit > limit_) {
      limit_ = limit;
    }
  }
  void check(const std::string& text) {
    std::size_t limit = 0;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      limit = limit_;
    }
    if (text.size() > limit) {
      throw std::length_error("longer than " + std::to_string(limit) + ": " + text);
    }
  }

 private:
  std::mutex mutex_;
  std::size_t limit_ = 4;
};

int refused = 0;

int validate_all(Validator& validator, const std::vector<std::string>& texts) {
  int good = 0;
  for (const std::string& text : texts) {
    try {
      validator.check(text);
      ++good;
    } catch (const std::length_error&) {
      ++refused;  // RACE(refused)
    }
  }
  return good;
}

}  // namespace

int main() {
  Validator validator;
  int seen = 0, good = 0;
  std::thread control([&] {
    validator.raise(16);
    seen = refused;  // RACE(refused)
  });
  std::thread worker([&] { good = validate_all(validator, {"abc", "abcdefgh"}); });
  control.join();
  worker.join();
  std::cout << good << " good, " << seen << " seen as refused\n";
}
