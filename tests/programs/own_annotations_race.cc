// sooth/annotate.h: a message that nobody waits for orders nothing, and a hand-made lock protects only who takes it.
// DEEP: some, accesses that annotations hide are missing
#include "own_annotations.h"

Apart passed, guarded, ignored;

static void first() {
  ignored.value = 1;
  passed.value = 1;  // RACE(a)
  SOOTH_HAPPENS_BEFORE(&passed);
  lock.acquire();
  guarded.value = 1;  // RACE(b)
  lock.release();
  reach(1);
}

static void second() {
  await(1);
  SOOTH_IGNORE_WRITES_BEGIN();
  ignored.value = 2;
  SOOTH_IGNORE_WRITES_END();
  passed.value = 2;   // RACE(a)
  guarded.value = 2;  // RACE(b)
}

int main() { run_threads(first, second); }
