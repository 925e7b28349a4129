// Two readers that wait for a condition hold their lock in reader mode, and write.
#include <condition_variable>
#include <shared_mutex>

#include "harness.h"

std::shared_mutex mutex;
std::condition_variable_any changed;
bool ready;
int value;

static void reader() {
  std::shared_lock<std::shared_mutex> lock(mutex);
  changed.wait(lock, [] { return ready; });
  ++value;  // RACE(a)
}

int main() {
  pthread_t first = start(reader), second = start(reader);
  {
    std::unique_lock<std::shared_mutex> lock(mutex);
    ready = true;
  }
  changed.notify_all();
  join(first);
  join(second);
}
