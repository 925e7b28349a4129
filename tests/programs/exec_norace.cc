// The program becomes another one by exec, after it has joined its threads.
// OUTPUT: done
#include <unistd.h>

#include "harness.h"

int value;

static void writer() {
  value = 1;
}

int main() {
  pthread_t thread = start(writer);
  join(thread);
  value = 2;
  execl("/bin/echo", "echo", "done", static_cast<char*>(nullptr));
  return 1;
}
