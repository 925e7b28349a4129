// Each thread has a slot; they are added up when all have said, under a lock, that they are done.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

long slots[3];
std::mutex mutex;
std::condition_variable changed;
int done;

void work(int number) {
  for (int i = 0; i < 3; ++i) {
    slots[number] += i;
  }
  std::lock_guard lock(mutex);
  ++done;
  changed.notify_one();
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(work, i);
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return done == 3; });
  }
  long sum = 0;
  for (long slot : slots) {
    sum += slot;
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return sum == 9 ? 0 : 1;
}
