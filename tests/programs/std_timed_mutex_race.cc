// A timed mutex that could not be locked in time protects nothing.
#include <chrono>
#include <mutex>

#include "harness.h"

std::timed_mutex mutex;
int value;

static void holder() {
  mutex.lock();
  reach(1);
  await(2);
  value = 1;  // RACE(a)
  mutex.unlock();
}

static void hurried() {
  await(1);
  bool locked = mutex.try_lock_for(std::chrono::milliseconds(1));
  value = 2;  // RACE(a)
  if (locked) mutex.unlock();
  reach(2);
}

int main() { run_threads(holder, hurried); }
