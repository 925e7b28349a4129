// Through a signalfd: the message is written before it is handed over.
// TSAN: skip, it does not know this way
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "harness.h"

int signals;
int message;

static void sender() {
  message = 1;
  kill(getpid(), SIGUSR1);
}

static void receiver() {
  signalfd_siginfo info;
  if (read(signals, &info, sizeof info) != sizeof info) return;
  message = 2;
}

int main() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals = signalfd(-1, &set, 0);
  run_threads(sender, receiver);
  close(signals);
}
