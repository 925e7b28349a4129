// Signals arrive while threads begin and end; the handlers of one after the other write to one variable, and main does, too.
// OUTPUT: ended
#include <signal.h>
#include <stdio.h>

#include "harness.h"

int handled;
int value;

static void handle(int) { __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED); }

static void work() {
  volatile int local[8];
  for (int i = 0; i < 8; ++i) local[i] = i;
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 100; ++i) {
    pthread_t thread = start(work);
    for (int k = 0; k < 10; ++k) pthread_kill(thread, SIGUSR1);
    join(thread);
  }
  pthread_t racer = start([] {
    value = 1;  // RACE(a)
    reach(1);
  });
  await(1);
  value = 2;  // RACE(a)
  join(racer);
  puts("ended");
}
