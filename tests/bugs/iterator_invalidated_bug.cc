// The observers are called without the lock, by an iterator that was advanced under it: one that another thread removes
// meanwhile is gone.
//
// FAILS: assertion (the observer's mark is gone), or a crash
// PREEMPTIONS: 1, of the thread that notifies, between two observers
#include <cassert>
#include <list>
#include <mutex>
#include <thread>

struct Observer {
  static constexpr int kAlive = 0x0b5e;
  volatile int mark = kAlive;
  int calls = 0;
  ~Observer() { mark = 0; }
  void call() {
    assert(mark == kAlive);
    ++calls;
  }
};

std::mutex mutex;
std::list<Observer> observers(2);

void notify() {
  std::unique_lock lock(mutex);
  for (auto it = observers.begin(); it != observers.end(); ++it) {
    lock.unlock();  // an observer may want to call us
    it->call();
    lock.lock();
  }
}

void unsubscribe() {
  std::lock_guard lock(mutex);
  observers.pop_front();
}

int main() {
  std::thread notifier(notify);
  std::thread leaver(unsubscribe);
  notifier.join();
  leaver.join();
}
