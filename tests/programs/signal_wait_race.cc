// A thread takes a signal with sigwait; the sender writes after it has sent it.
// TSAN: skip, it does not order a signal and sigwait
#include <signal.h>
#include <unistd.h>

#include "harness.h"

int message;
sigset_t signals;

static void receiver() {
  int number = 0;
  sigwait(&signals, &number);
  message = 2;  // RACE(a)
}

int main() {
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  pthread_t thread = start(receiver);
  pthread_kill(thread, SIGUSR2);
  message = 1;  // RACE(a)
  join(thread);
}
