// A busy thread gets a thousand queued signals, each with its value: none is lost, and the sender comes before the handler.
// OUTPUT: 1000 signals, sum 500500
// TSAN: skip, it does not order a signal and its handler
#include <signal.h>
#include <stdio.h>

#include "harness.h"

int signals, sum, prepared;
volatile int work[64];

static void handle(int, siginfo_t* info, void*) {
  sum += info->si_value.sival_int + prepared;
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
  prepared = 0;
  for (int i = 1; i <= 1000; ++i) {
    sigval value {};
    value.sival_int = i;
    pthread_sigqueue(thread, SIGRTMIN, value);
  }
  join(thread);
  printf("%d signals, sum %d\n", signals, sum);
}
