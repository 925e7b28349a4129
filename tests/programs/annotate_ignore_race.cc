// Accesses after the end of an ignored stretch count again.
// DEEP: some, accesses that annotations hide are missing
#include "annotations.h"
#include "harness.h"

Apart read_value, written_value, benign_value;
int copy;

static void first() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  copy = read_value.value;
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  copy = read_value.value;  // RACE(a)
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  written_value.value = 1;
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  written_value.value = 3;  // RACE(b)
  benign_value.value = 1;
}

static void second() {
  read_value.value = 2;     // RACE(a)
  written_value.value = 2;  // RACE(b)
  benign_value.value = 2;
}

int main() {
  AnnotateBenignRaceSized(__FILE__, __LINE__, &benign_value, sizeof benign_value, "a statistic");
  run_threads(first, second);
}
