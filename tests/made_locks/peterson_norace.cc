// Peterson's lock. Both threads write inside.
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
  a = 1;
  take();
  shared = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  self = 1;
  take();
  shared = 2;
  give();
  b = 1;
  return nullptr;
}

int main() { run_threads(first, second); }
