// A child process writes its own copy of what the parent's thread writes.
// OUTPUT: child 4
// DEEP: some, the child of a fork begins in the middle
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

int value;

static void writer() {
  value = 1;
}

int main() {
  pid_t child = fork();
  if (child == 0) {
    value = 3;
    _exit(4);
  }
  join(start(writer));
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
}
