// __tsan_release comes before the message.
#include "annotations.h"
#include "harness.h"

int flag, message;

static void sender() {
  __tsan_release(&flag);
  message = 1;  // RACE(a)
  reach(1);
}

static void receiver() {
  await(1);
  __tsan_acquire(&flag);
  message = 2;  // RACE(a)
}

int main() {
  run_threads(sender, receiver);
}
