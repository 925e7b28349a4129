// A thread waits for its own handlers in loops that do nothing but read a flag; another thread reads the count without a lock.
// OUTPUT: 60
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "harness.h"

volatile sig_atomic_t flag;
int atomic_flag;
int count;

static void handle(int) {
  flag = 1;
  __atomic_store_n(&atomic_flag, 1, __ATOMIC_RELAXED);
  ++count;  // RACE(a)
}

static void wait_for_alarm(bool plain) {
  flag = 0;
  __atomic_store_n(&atomic_flag, 0, __ATOMIC_RELAXED);
  itimerval soon = {{0, 0}, {0, 400}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  if (plain) while (flag == 0) {}
  else while (__atomic_load_n(&atomic_flag, __ATOMIC_RELAXED) == 0) {}
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
  pthread_t thread = start([] {
    await(1);
    if (count < 0) puts("never");  // RACE(a)
  });
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  for (int i = 0; i < 60; ++i) wait_for_alarm(i % 2 == 0);
  reach(1);
  join(thread);
  printf("%d\n", count);
}
