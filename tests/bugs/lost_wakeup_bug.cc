// A flag is set, and its waiter notified, without the mutex: the notification gets lost between the waiter's look at the
// flag and its wait.
//
// FAILS: deadlock: the waiter sleeps although the flag is set
// PREEMPTIONS: 1, of the waiter after it has seen the flag unset and before it waits
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
  ready.store(true);  // an atomic flag "needs no lock"
  changed.notify_one();
}

int main() {
  std::thread waiter(wait_for_payload);
  std::thread sender(deliver);
  waiter.join();
  sender.join();
  return payload == 42 ? 0 : 1;
}
