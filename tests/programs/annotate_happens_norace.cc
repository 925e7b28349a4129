// AnnotateHappensBefore and AnnotateHappensAfter order a message that a relaxed flag passes.
#include "annotations.h"
#include "harness.h"

int flag, message;

static void sender() {
  message = 1;
  AnnotateHappensBefore(__FILE__, __LINE__, &flag);
  reach(1);
}

static void receiver() {
  await(1);
  AnnotateHappensAfter(__FILE__, __LINE__, &flag);
  message = 2;
}

int main() {
  run_threads(sender, receiver);
}
