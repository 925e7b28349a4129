// Peterson's lock. The first thread writes in front of its critical section, the second behind its own. That the flags are clear at first
// is known in a deep recording only.
// DEEP
#include <atomic>

#include "locks.h"

std::atomic<bool> wants[2];
std::atomic<int> turn{0};
thread_local int self = 0;
static void take() {
  wants[self] = true;
  turn = 1 - self;
  while (wants[1 - self] && turn == 1 - self) {
    sched_yield();
  }
}
static void give() { wants[self] = false; }
int shared, a, b;

static void* first(void*) {
  shared = 1;  // RACE
  take();
  a = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  self = 1;
  take();
  b = 1;
  give();
  shared = 2;  // RACE
  return nullptr;
}

int main() { run_threads(first, second); }
