// A condition variable for each of the two.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

std::mutex mutex;
std::condition_variable room;
std::condition_variable something;
std::optional<int> slot;
int taken;

void produce() {
  for (int item = 1; item <= 2; ++item) {
    std::unique_lock lock(mutex);
    room.wait(lock, [] { return !slot; });
    slot = item;
    something.notify_one();
  }
}

void consume() {
  std::unique_lock lock(mutex);
  something.wait(lock, [] { return slot.has_value(); });
  taken += *slot;
  slot.reset();
  room.notify_one();
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
