// Sets of signals are written, and is looked at behind the join.
#include <signal.h>
#include <string.h>

#include "harness.h"

sigset_t empty;
alignas(64) sigset_t waiting;
alignas(64) sigset_t blocked;
alignas(64) struct sigaction action;
Apart copy, result;

static void worker() {
  result.value = sigemptyset(&empty);
  result.value += sigpending(&waiting);
  result.value += pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  result.value += sigaction(SIGUSR1, nullptr, &action);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = empty.__val[0] > 0;
  copy.value += waiting.__val[0] > 0;
  copy.value += blocked.__val[0] > 0;
  copy.value += action.sa_flags;
}
