// The observers are called under the lock, which they may take again.
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

std::recursive_mutex mutex;
std::list<Observer> observers(2);

void notify() {
  std::lock_guard lock(mutex);
  for (auto it = observers.begin(); it != observers.end(); ++it) {
    it->call();
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
