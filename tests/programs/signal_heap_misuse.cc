// A handler allocates: it may have interrupted malloc, whose lock or lists it then finds half changed.
// OUTPUT: 3 times
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile sig_atomic_t count;
void* volatile kept;
char* volatile made;

static void handle(int) {
  kept = malloc(10);  // MISUSE(signal-unsafe)
  free(kept);  // MISUSE(signal-unsafe)
  made = new char(1);  // MISUSE(signal-unsafe)
  delete made;  // MISUSE(signal-unsafe)
  count = count + 1;
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 3; ++i) kill(getpid(), SIGUSR1);
  printf("%d times\n", static_cast<int>(count));
}
