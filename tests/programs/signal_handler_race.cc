// A signal handler in one thread writes what another thread writes.
// TSAN: skip, it does not order pthread_kill and the handler
#include <signal.h>

#include "harness.h"

int value, own;

static void handle(int) {
  own = 2;
  value = 1;  // RACE(a)
  reach(2);
}

static void target() {
  own = 1;
  reach(1);
  await(2);
  own = 3;
  raise(SIGUSR1);
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_t thread = start(target);
  await(1);
  pthread_kill(thread, SIGUSR1);
  value = 2;  // RACE(a)
  join(thread);
}
