// A hand-made read-write lock, annotated; two readers hold it, and one of them writes.
#include "annotations.h"
#include "harness.h"

int taken, value, copy;
char identity;  // what the annotations call the lock

static void lock(long exclusive) {
  while (__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) != 0) {
    sched_yield();
  }
  AnnotateRWLockAcquired(__FILE__, __LINE__, &identity, exclusive);
}

static void unlock(long exclusive) {
  AnnotateRWLockReleased(__FILE__, __LINE__, &identity, exclusive);
  __atomic_store_n(&taken, 0, __ATOMIC_RELAXED);
}

static void reader() {
  lock(0);
  copy = value;  // RACE(a)
  unlock(0);
}

static void writer() {
  lock(0);
  value = 1;  // RACE(a)
  unlock(0);
}

int main() {
  AnnotateRWLockCreate(__FILE__, __LINE__, &identity);
  run_threads(reader, writer);
  AnnotateRWLockDestroy(__FILE__, __LINE__, &identity);
}
