// Threads wait in loops of which nothing is recorded, and get their turn all the same. The message is handed over by an
// annotation.
// DEEP: some, accesses that annotations hide are missing
#include "annotations.h"
#include "harness.h"

int ready, message;

static void sender() {
  message = 1;
  AnnotateHappensBefore(__FILE__, __LINE__, &message);
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  __atomic_store_n(&ready, 1, __ATOMIC_RELAXED);
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

static void receiver() {
  AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  while (__atomic_load_n(&ready, __ATOMIC_RELAXED) == 0) {
  }
  AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
  AnnotateHappensAfter(__FILE__, __LINE__, &message);
  message = 2;
}

int main() { run_threads(receiver, sender); }
