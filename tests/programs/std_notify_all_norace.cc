// notify_all does not synchronise, but the mutex does, under which the flag is set.
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
  copies[which] = flag;
}

static void first() { wait_for_flag(0); }
static void second() { wait_for_flag(1); }

static void notifier() {
  for (std::unique_lock<std::mutex> lock(mutex); waiting < 2;) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    flag = 1;
  }
  condition.notify_all();
}

int main() {
  pthread_t threads[] = {start(first), start(second), start(notifier)};
  for (pthread_t thread : threads) {
    join(thread);
  }
}
