// What is told of the machine and of children is written, and another thread looks at it without waiting.
// DEEP: some, the child of a fork begins in the middle
#include <sys/random.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

utsname machine;
alignas(64) char bytes[16];
alignas(64) int status;
Apart copy, result;

static void worker() {
  result.value = uname(&machine);  // RACE(a)
  result.value += static_cast<int>(getrandom(bytes, sizeof bytes, 0));  // RACE(b)
  pid_t child = fork();
  if (child == 0) _exit(3);
  result.value += waitpid(child, &status, 0) == child;  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = machine.sysname[0];  // RACE(a)
  copy.value += bytes[3];  // RACE(b)
  copy.value += status;  // RACE(c)
  join(thread);
}
