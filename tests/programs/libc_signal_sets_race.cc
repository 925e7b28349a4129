// Sets of signals are written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <signal.h>
#include <string.h>

#include "harness.h"

sigset_t empty;
alignas(64) sigset_t waiting;
alignas(64) sigset_t blocked;
alignas(64) struct sigaction action;
Apart copy, result;

static void worker() {
  result.value = sigemptyset(&empty);  // RACE(a)
  result.value += sigpending(&waiting);  // RACE(b)
  result.value += pthread_sigmask(SIG_BLOCK, nullptr, &blocked);  // RACE(c)
  result.value += sigaction(SIGUSR1, nullptr, &action);  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = empty.__val[0] > 0;  // RACE(a)
  copy.value += waiting.__val[0] > 0;  // RACE(b)
  copy.value += blocked.__val[0] > 0;  // RACE(c)
  copy.value += action.sa_flags;  // RACE(d)
  join(thread);
}
