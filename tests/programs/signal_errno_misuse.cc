// A handler makes a call that fails and leaves its errno to the code that it interrupts.
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "harness.h"

static void handle(int) {  // MISUSE(signal-errno)
  close(-1);
  reach(2);
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_t thread = start([] {
    errno = 0;
    reach(1);
    await(2);
  });
  await(1);
  pthread_kill(thread, SIGUSR1);
  join(thread);
}
