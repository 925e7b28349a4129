// Figure 6 of RECIPE with std::thread, std::unique_lock and std::cout: a bounded buffer looks at its fill level without the lock that changes it. The numbers are those of the paper. In the recorded
// run a number is put in first, then the level is looked at twice. With one number less there is still room, so the second look may come before.
//
// FOUND(e291_e400): mcm recipe:s recipe
// FOUND(e294_e400): recipe:s recipe
#include <iostream>
#include <mutex>
#include <thread>

namespace {

class Buffer {
 public:
  void put() {
    std::unique_lock<std::mutex> guard(mutex_);
    level_++;  // 400 RACE(e291_e400) RACE(e294_e400)
  }

  void look() const {
    if (level_ < kCapacity) {                                         // 291 RACE(e291_e400)
      std::cout << "room for " << kCapacity - level_ << std::endl;  // 294 RACE(e294_e400)
    }
  }

 private:
  static constexpr int kCapacity = 4;
  std::mutex mutex_;
  int level_ = 1;
};

}  // namespace

int main() {
  Buffer buffer;
  std::thread putting([&] { buffer.put(); }), looking([&] { buffer.look(); });
  putting.join();
  looking.join();
}
