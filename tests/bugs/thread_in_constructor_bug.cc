// A constructor starts a thread before all members have their values.
//
// FAILS: assertion: the thread uses a member that is not set
// PREEMPTIONS: 1, of the constructor behind the start of the thread
#include <atomic>
#include <cassert>
#include <thread>

class Service {
 public:
  Service() {
    thread_ = std::thread([this] { work(); });
    port_.store(80);
  }
  ~Service() { thread_.join(); }

 private:
  void work() { assert(port_.load() == 80); }

  std::atomic<int> port_{0};
  std::thread thread_;
};

int main() { Service service; }
