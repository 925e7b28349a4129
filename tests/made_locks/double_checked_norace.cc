// Double-checked locking with a spin lock, done right.
#include <atomic>

#include "locks.h"

struct Thing {
  int value = 1;
};

std::atomic<Thing*> made{nullptr};
std::atomic<bool> taken{false};
int values[2];

static Thing* get() {
  Thing* thing = made.load(std::memory_order_acquire);
  if (thing == nullptr) {
    while (taken.exchange(true, std::memory_order_acquire)) {
      sched_yield();
    }
    thing = made.load(std::memory_order_relaxed);
    if (thing == nullptr) {
      thing = new Thing;
      made.store(thing, std::memory_order_release);
    }
    taken.store(false, std::memory_order_release);
  }
  return thing;
}

static void* first(void*) {
  values[0] = get()->value;
  return nullptr;
}

static void* second(void*) {
  values[1] = get()->value;
  return nullptr;
}

int main() { run_threads(first, second); }
