// The handler of a crash prints with functions that it may have interrupted: many do, and it is told without failing a
// run.
// STATUS: 3
// OUTPUT: crashed
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handle(int) {
  char* text = static_cast<char*>(malloc(16));  // MISUSE(signal-unsafe)
  snprintf(text, 16, "crashed");
  puts(text);  // MISUSE(signal-unsafe)
  fflush(stdout);  // MISUSE(signal-unsafe)
  _exit(3);
}

int main() {
  signal(SIGSEGV, handle);
  signal(SIGABRT, handle);
  if (getenv("SOOTH_NEVER_SET") == nullptr) {
    abort();
  }
}
