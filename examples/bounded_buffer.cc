// A bounded buffer between producers and consumers, with a lock and two conditions, done right; and a monitor that
// looks at its fill level without the lock, while the others are at work.
//
// FOUND(put): hb wcp      the monitor's look, and the producer that puts a number in
// FOUND(take): hb wcp     the monitor's look, and the consumer that takes one out
//
// No race: the slots. A slot is written and read under the lock only. `total` is written by the one consumer and
// read by main after the join.
// TSAN: some, it remembers few accesses to a word
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

class BoundedBuffer {
 public:
  void put(int number) {
    std::unique_lock<std::mutex> lock(mutex_);
    not_full_.wait(lock, [this] { return level_ < kCapacity; });
    slots_[(first_ + level_) % kCapacity] = number;
    level_ = level_ + 1;  // RACE(put)
    not_empty_.notify_one();
  }

  int take() {
    std::unique_lock<std::mutex> lock(mutex_);
    not_empty_.wait(lock, [this] { return level_ > 0; });
    int number = slots_[first_];
    first_ = (first_ + 1) % kCapacity;
    level_ = level_ - 1;  // RACE(take)
    not_full_.notify_one();
    return number;
  }

  int level() const {
    return level_;  // RACE(put) RACE(take)
  }

 private:
  static constexpr int kCapacity = 4;
  std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  int slots_[kCapacity] = {};
  int first_ = 0;
  int level_ = 0;
};

constexpr int kNumbers = 50;
BoundedBuffer buffer;
int total = 0;

void producer() {
  for (int i = 1; i <= kNumbers; ++i) {
    buffer.put(i);
  }
}

void consumer() {
  for (int i = 0; i < kNumbers; ++i) {
    total += buffer.take();
  }
}

}  // namespace

int main() {
  std::thread producing(producer), consuming(consumer);
  int highest = 0;
  for (int i = 0; i < 20; ++i) {
    int level = buffer.level();
    highest = level > highest ? level : highest;
    std::this_thread::yield();
  }
  producing.join();
  consuming.join();
  std::printf("total %d, level within bounds: %s\n", total, highest <= 4 ? "yes" : "no");
}
