// The program becomes another one by exec; the race before that is found.
// OUTPUT: done
#include <unistd.h>

#include "harness.h"

int value;

static void writer() {
  value = 1;  // RACE(a)
}

int main() {
  pthread_t thread = start(writer);
  value = 2;  // RACE(a)
  join(thread);
  execl("/bin/echo", "echo", "done", static_cast<char*>(nullptr));
  return 1;
}
