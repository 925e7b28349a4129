// What is told of the machine and of children is written, and is looked at behind the join.
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
  result.value = uname(&machine);
  result.value += static_cast<int>(getrandom(bytes, sizeof bytes, 0));
  pid_t child = fork();
  if (child == 0) _exit(3);
  result.value += waitpid(child, &status, 0) == child;
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = machine.sysname[0];
  copy.value += bytes[3];
  copy.value += status;
}
