// Handlers that do what they may: call functions that are safe, keep errno, or allocate and print where nothing can be
// interrupted, behind raise() and in sigsuspend().
// OUTPUT: safe
// OUTPUT: raised
// OUTPUT: suspended
// TSAN: skip, it warns of the heap behind raise() and in sigsuspend()
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void careful(int) {
  int kept = errno;
  close(-1);
  char text[16];
  int length = snprintf(text, sizeof text, "%s\n", "safe");
  if (write(1, text, static_cast<size_t>(length)) != length) _exit(1);
  errno = kept;
}

static void careless(int number) {
  free(malloc(100));
  printf("%s\n", number == SIGUSR2 ? "raised" : "suspended");
  fflush(stdout);
  close(-1);
}

int main() {
  struct sigaction action {};
  action.sa_handler = careful;
  sigaction(SIGUSR1, &action, nullptr);
  kill(getpid(), SIGUSR1);
  action.sa_handler = careless;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigprocmask(SIG_BLOCK, &set, &old);
  sigaction(SIGALRM, &action, nullptr);
  ualarm(1000, 0);
  sigsuspend(&old);
}
