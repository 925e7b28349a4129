// A producer fills a queue under a lock and says with a plain bool that it is done; consumers look at the bool
// without the lock.
//
// FOUND(done): hb wcp     the producer's last word, and the consumers' look at it
//
// No race: the queue, always under the lock; the sums, one for each consumer, read after the join.
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
std::deque<int> queue;
bool done = false;
long sums[2];

void producer() {
  for (int i = 1; i <= 100; ++i) {
    std::lock_guard<std::mutex> guard(mutex);
    queue.push_back(i);
  }
  done = true;  // RACE(done)
}

bool take(int& number) {
  std::lock_guard<std::mutex> guard(mutex);
  if (queue.empty()) {
    return false;
  }
  number = queue.front();
  queue.pop_front();
  return true;
}

void consumer(int self) {
  int number = 0;
  while (true) {
    bool last = done;  // RACE(done)
    if (take(number)) {
      sums[self] += number;
    } else if (last) {
      return;
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

int main() {
  std::thread producing(producer), first(consumer, 0), second(consumer, 1);
  producing.join();
  first.join();
  second.join();
  std::printf("%ld\n", sums[0] + sums[1]);
}
