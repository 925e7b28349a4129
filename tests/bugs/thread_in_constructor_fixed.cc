// thread_in_constructor without the bug: the thread starts last.
#include <atomic>
#include <cassert>
#include <thread>

class Service {
 public:
  Service() {
    port_.store(80);
    thread_ = std::thread([this] { work(); });
  }
  ~Service() { thread_.join(); }

 private:
  void work() { assert(port_.load() == 80); }

  std::atomic<int> port_{0};
  std::thread thread_;
};

int main() { Service service; }
