// A bucket of tokens that is filled as time passes. What was let through is counted without the lock.
//
// In a serial run the first client takes the tokens, and the second one is turned away.
#include <algorithm>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

class Limiter {
 public:
  Limiter(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}

  bool take(double now, double cost) {
    std::lock_guard<std::mutex> guard(mutex_);
    tokens_ = std::min(burst_, tokens_ + (now - last_) * rate_);
    last_ = now;
    if (tokens_ < cost) {
      return false;
    }
    tokens_ -= cost;
    return true;
  }

 private:
  const double rate_, burst_;
  std::mutex mutex_;
  double tokens_;
  double last_ = 0;
};

struct Server {
  Limiter limiter{0.5, 3.0};
  double served = 0;

  void single(double now, double cost) {
    if (limiter.take(now, cost)) {
      served += cost;  // RACE(served)
    }
  }
  // Looks how busy the server is before it asks for much.
  bool bulk(double now, double cost) {
    seen = served;  // RACE(served)
    return limiter.take(now, cost);
  }
  double seen = 0;
};

}  // namespace

int main() {
  Server server;
  std::thread bulk([&] { server.bulk(1.0, 2.5); });
  std::thread single([&] { server.single(1.0, 1.0); });
  bulk.join();
  single.join();
  std::cout << server.seen << ' ' << server.served << '\n';
}
