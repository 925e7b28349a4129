// Who stops a worker holds the lock of its state while waiting for its end. A worker that has not seen the flag yet needs it.
//
// FAILS: deadlock: the worker waits for the lock, and who has it for the worker
// PREEMPTIONS: 1, of the worker between its look at the flag and the lock
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
  std::lock_guard lock(mutex);
  stops.store(true);
  worker.join();
}

int main() {
  std::thread worker(work);
  std::thread stopper([&] { stop(worker); });
  stopper.join();
}
