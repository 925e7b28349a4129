// __tsan_release and __tsan_acquire order a message that a relaxed flag passes.
#include "annotations.h"
#include "harness.h"

int flag, message;

static void sender() {
  message = 1;
  __tsan_release(&flag);
  reach(1);
}

static void receiver() {
  await(1);
  __tsan_acquire(&flag);
  message = 2;
}

int main() {
  run_threads(sender, receiver);
}
