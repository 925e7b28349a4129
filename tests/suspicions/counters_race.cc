// Two threads count their calls under a lock; what they write besides is under none. Nothing is handed over.
#include <mutex>
#include <thread>

std::mutex mutex;
int calls, shared;

void call() {
  {
    std::lock_guard lock(mutex);
    ++calls;
  }
  ++shared;  // RACE
}

int main() {
  std::thread one(call), two(call);
  one.join();
  two.join();
}
