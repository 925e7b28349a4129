// The handler of a timer prints: the thread may be inside printf, and hold the lock of the stream.
// OUTPUT: tick
// OUTPUT: done
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

volatile sig_atomic_t ticked;

static void handle(int) {
  puts("tick");  // MISUSE(signal-unsafe)
  ticked = 1;
}

static void last(int) {
  printf("done\n");  // MISUSE(signal-unsafe)
  exit(0);  // MISUSE(signal-unsafe)
}

int main() {
  signal(SIGALRM, handle);
  signal(SIGTERM, last);
  itimerval soon{};
  soon.it_value.tv_usec = 1000;
  setitimer(ITIMER_REAL, &soon, nullptr);
  while (ticked == 0) {
  }
  kill(getpid(), SIGTERM);
  for (;;) {
    pause();
  }
}
