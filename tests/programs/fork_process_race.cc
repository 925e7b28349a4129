// A child process works alone; the race of the parent's threads is found in the parent.
// OUTPUT: child 4
// DEEP: some, the child of a fork begins in the middle
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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
  pid_t child = fork();
  if (child == 0) {
    value = 3;
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
}
