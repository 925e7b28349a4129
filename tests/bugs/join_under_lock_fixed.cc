// join_under_lock without the bug: the lock is given back before the worker is waited for.
#include <atomic>
#include <mutex>
#include <thread>

std::mutex mutex;
std::atomic<bool> stops{false};
int rounds;

void work() {
  for (int i = 0; i < 3 && !stops.load(); ++i) {
    std::lock_guard lock(mutex);
    ++rounds;
  }
}

void stop(std::thread& worker) {
  {
    std::lock_guard lock(mutex);
    stops.store(true);
  }
  worker.join();
}

int main() {
  std::thread worker(work);
  std::thread stopper([&] { stop(worker); });
  stopper.join();
}
