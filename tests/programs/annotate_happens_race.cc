// AnnotateHappensBefore comes before the message.
#include "annotations.h"
#include "harness.h"

int flag, message;

static void sender() {
  AnnotateHappensBefore(__FILE__, __LINE__, &flag);
  message = 1;  // RACE(a)
  reach(1);
}

static void receiver() {
  await(1);
  AnnotateHappensAfter(__FILE__, __LINE__, &flag);
  message = 2;  // RACE(a)
}

int main() {
  run_threads(sender, receiver);
}
