// Two readers that wait for a condition hold their lock in reader mode, and read what was written in the other.
// OUTPUT: 10
#include <condition_variable>
#include <shared_mutex>
#include <stdio.h>

#include "harness.h"

std::shared_mutex mutex;
std::condition_variable_any changed;
bool ready;
int value;
Apart copy[2];

static void read_into(int& place) {
  std::shared_lock<std::shared_mutex> lock(mutex);
  changed.wait(lock, [] { return ready; });
  place = value;
}

int main() {
  pthread_t first = start([] { read_into(copy[0].value); }), second = start([] { read_into(copy[1].value); });
  {
    std::unique_lock<std::shared_mutex> lock(mutex);
    ready = true;
    value = 5;
  }
  changed.notify_all();
  join(first);
  join(second);
  printf("%d\n", copy[0].value + copy[1].value);
}
