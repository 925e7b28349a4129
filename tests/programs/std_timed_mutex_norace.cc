// A timed mutex that was locked in time protects.
#include <chrono>
#include <mutex>

#include "harness.h"

std::timed_mutex mutex;
int value;

static void holder() {
  mutex.lock();
  reach(1);
  value = 1;
  mutex.unlock();
}

static void hurried() {
  await(1);
  bool locked = mutex.try_lock_for(std::chrono::seconds(60));
  if (locked) value = 2;
  if (locked) mutex.unlock();
  reach(2);
}

int main() { run_threads(holder, hurried); }
