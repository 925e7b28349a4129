// A relaxed store of another thread ends the release sequence that a release store began.
// TSAN: skip, a relaxed store ends no release sequence for it
#include "harness.h"

int message, received;
int flag;

static void sender() {
  message = 1;  // RACE(a)
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  reach(1);
}

static void middle() {
  await(1);
  __atomic_store_n(&flag, 2, __ATOMIC_RELAXED);
  reach(2);
}

static void receiver() {
  await(2);
  __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
  received = message;  // RACE(a)
}

int main() {
  pthread_t third = start(middle);
  run_threads(sender, receiver);
  join(third);
}
