// A busy thread gets a thousand queued signals, each with its value; the sender reads the sum too early.
// OUTPUT: 1000 signals, sum 500500
// TSAN: skip, it does not order a signal and its handler
#include <signal.h>
#include <stdio.h>

#include "harness.h"

int signals, sum;
volatile int work[64];

static void handle(int, siginfo_t* info, void*) {
  sum += info->si_value.sival_int;  // RACE(a)
  if (++signals == 1000) reach(2);
}

static void target() {
  reach(1);
  while (__atomic_load_n(&steps_done, __ATOMIC_RELAXED) < 2) {
    for (int i = 0; i < 64; ++i) work[i] = work[i] + 1;
    sched_yield();
  }
}

int main() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN, &action, nullptr);
  pthread_t thread = start(target);
  await(1);
  for (int i = 1; i <= 1000; ++i) {
    sigval value {};
    value.sival_int = i;
    pthread_sigqueue(thread, SIGRTMIN, value);
  }
  if (sum < 0) puts("never");  // RACE(a)
  join(thread);
  printf("%d signals, sum %d\n", signals, sum);
}
