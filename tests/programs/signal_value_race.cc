// A signal with a value is sent before the rest is written.
#include <signal.h>
#include <unistd.h>

#include "harness.h"

sigset_t set;
pthread_t target;
int data;

static void taker() {
  siginfo_t info;
  sigwaitinfo(&set, &info);
  data = 2;  // RACE(a)
}

int main() {
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  target = start(taker);
  sigval value{};
  value.sival_int = 1;
  pthread_sigqueue(target, SIGUSR1, value);
  data = 1;  // RACE(a)
  join(target);
}
