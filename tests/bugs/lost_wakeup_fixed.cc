// The flag changes under the mutex, so never between the waiter's look at it and its wait.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
std::atomic<bool> ready{false};
int payload;

void wait_for_payload() {
  std::unique_lock lock(mutex);
  while (!ready.load()) {
    changed.wait(lock);
  }
}

void deliver() {
  payload = 42;
  {
    std::lock_guard lock(mutex);
    ready.store(true);
  }
  changed.notify_one();
}

int main() {
  std::thread waiter(wait_for_payload);
  std::thread sender(deliver);
  waiter.join();
  sender.join();
  return payload == 42 ? 0 : 1;
}
