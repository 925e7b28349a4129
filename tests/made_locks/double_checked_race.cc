// Double-checked locking that publishes a thing before it is finished. In a serial recording the second thread takes the lock behind the
// first one, for something else, and that orders the two.
#include <atomic>

#include "locks.h"

struct Thing {
  int value = 1;
};

std::atomic<Thing*> made{nullptr};
std::atomic<bool> taken{false};
int values[2], calls;

static void take() {
  while (taken.exchange(true, std::memory_order_acquire)) {
    sched_yield();
  }
}
static void give() { taken.store(false, std::memory_order_release); }

static Thing* get() {
  Thing* thing = made.load(std::memory_order_acquire);
  if (thing == nullptr) {
    take();
    thing = made.load(std::memory_order_relaxed);
    if (thing == nullptr) {
      thing = new Thing;
      made.store(thing, std::memory_order_release);
      thing->value = 2;  // RACE
    }
    give();
  }
  return thing;
}

static void* first(void*) {
  values[0] = get()->value;
  return nullptr;
}

static void* second(void*) {
  take();
  ++calls;
  give();
  Thing* const thing = get();
  values[1] = thing->value;  // RACE
  return nullptr;
}

int main() { run_threads(first, second); }
