// Two threads count their calls under a lock; what they write besides is under another lock.
#include <mutex>
#include <thread>

std::mutex mutex, other;
int calls, shared;

void call() {
  {
    std::lock_guard lock(mutex);
    ++calls;
  }
  std::lock_guard lock(other);
  ++shared;
}

int main() {
  std::thread one(call), two(call);
  one.join();
  two.join();
}
