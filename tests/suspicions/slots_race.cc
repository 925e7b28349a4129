// Slots are added up when one of the threads is done, not all of them.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

long slots[3];
std::mutex mutex;
std::condition_variable changed;
int done;

void work(int number) {
  for (int i = 0; i < 3; ++i) {  // RACE, where compilers keep the sum in a register
    slots[number] += i;          // RACE
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
    changed.wait(lock, [] { return done >= 2; });
  }
  long sum = 0;
  for (long slot : slots) {
    sum += slot;
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return sum >= 0 ? 0 : 1;
}
