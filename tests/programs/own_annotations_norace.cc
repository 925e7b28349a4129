// sooth/annotate.h: a message orders, a hand-made lock protects, memory that is handed out again is new, and what is ignored is
// not recorded.
// DEEP: some, accesses that annotations hide are missing
#include "own_annotations.h"

Apart passed, guarded, ignored, pooled;

static void first() {
  SOOTH_NAME_THREAD("first");
  SOOTH_NAME_LOCK(&lock, "the lock");
  SOOTH_IGNORE_WRITES_BEGIN();
  ignored.value = 1;
  SOOTH_IGNORE_WRITES_END();
  SOOTH_NEW_MEMORY(&pooled, sizeof pooled);
  pooled.value = 1;
  lock.acquire();
  guarded.value = 1;
  lock.release();
  passed.value = 1;
  SOOTH_HAPPENS_BEFORE(&passed);
  reach(1);
}

static void second() {
  await(1);
  SOOTH_NEW_MEMORY(&pooled, sizeof pooled);
  pooled.value = 2;
  lock.acquire();
  guarded.value = 2;
  lock.release();
  SOOTH_IGNORE_READS_BEGIN();
  int seen = ignored.value;
  SOOTH_IGNORE_READS_END();
  SOOTH_HAPPENS_AFTER(&passed);
  passed.value = 2 + seen;
  SOOTH_FREE_MEMORY(&pooled, sizeof pooled);
}

int main() { run_threads(first, second); }
