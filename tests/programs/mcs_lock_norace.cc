// A queue of waiting threads, each of which looks at a word of its own (Mellor-Crummey and Scott).
#include "harness.h"

struct Waiting {
  Waiting* next;
  int waits;
};
Waiting* last;
int value;

static void work() {
  Waiting mine = {nullptr, 1};
  Waiting* before = __atomic_exchange_n(&last, &mine, __ATOMIC_ACQ_REL);
  if (before != nullptr) {
    __atomic_store_n(&before->next, &mine, __ATOMIC_RELEASE);
    while (__atomic_load_n(&mine.waits, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ++value;
  Waiting* next = __atomic_load_n(&mine.next, __ATOMIC_ACQUIRE);
  Waiting* me = &mine;
  if (next == nullptr && __atomic_compare_exchange_n(&last, &me, nullptr, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    return;
  }
  while ((next = __atomic_load_n(&mine.next, __ATOMIC_ACQUIRE)) == nullptr) sched_yield();
  __atomic_store_n(&next->waits, 0, __ATOMIC_RELEASE);
}

int main() { run_threads(work, work); }
