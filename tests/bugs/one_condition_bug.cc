// One condition variable for "there is room" and "there is something", and one thread is notified: it may be one that
// waits for the other thing, and the signal is used up.
//
// FAILS: deadlock: the producer waits for room that is there, a consumer for something
// PREEMPTIONS: 0, but both consumers must wait before the producer runs, and the notification must wake a consumer
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
std::optional<int> slot;
int taken;

void produce() {
  for (int item = 1; item <= 2; ++item) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return !slot; });
    slot = item;
    changed.notify_one();
  }
}

void consume() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return slot.has_value(); });
  taken += *slot;
  slot.reset();
  changed.notify_one();
}

int main() {
  std::thread producer(produce);
  std::thread first(consume);
  std::thread second(consume);
  producer.join();
  first.join();
  second.join();
  return taken == 3 ? 0 : 1;
}
