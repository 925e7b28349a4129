// Signals arrive while threads begin and end; handlers count under nobody's eyes, atomically.
// OUTPUT: ended
#include <signal.h>
#include <stdio.h>

#include "harness.h"

int handled;

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
  puts("ended");
}
