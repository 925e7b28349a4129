// A block is freed where writes are not to be recorded, at once with an access.
// TSAN: skip, it records the free all the same
#include <stdlib.h>

#include "annotations.h"
#include "harness.h"

int* block;

static void reader() {
  await(1);
  if (*block == 1) reach(2);
}

static void owner() {
  *block = 1;
  AnnotateHappensBefore(__FILE__, __LINE__, block);
  reach(1);
  await(2);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  free(block);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

static void careful_reader() {
  await(1);
  AnnotateHappensAfter(__FILE__, __LINE__, block);
  reader();
}

int main() {
  block = static_cast<int*>(malloc(sizeof *block));
  run_threads(owner, careful_reader);
}
