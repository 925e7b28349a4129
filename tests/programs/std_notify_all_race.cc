// notify_all does not synchronise: the flag is set outside the mutex, and read by everybody behind the wait.
#include <condition_variable>
#include <mutex>

#include "harness.h"

std::mutex mutex;
std::condition_variable condition;
int waiting, flag, copies[2];

static void wait_for_flag(int which) {
  std::unique_lock<std::mutex> lock(mutex);
  ++waiting;
  condition.wait(lock);
  copies[which] = flag;  // RACE(a)
}

static void first() { wait_for_flag(0); }
static void second() { wait_for_flag(1); }

static void notifier() {
  for (std::unique_lock<std::mutex> lock(mutex); waiting < 2;) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  flag = 1;  // RACE(a)
  condition.notify_all();
}

int main() {
  pthread_t threads[] = {start(first), start(second), start(notifier)};
  for (pthread_t thread : threads) {
    join(thread);
  }
}
