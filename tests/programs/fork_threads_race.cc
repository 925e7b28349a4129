// A child of a program with threads; the thread of the parent goes on and races.
// TSAN: skip, clang's gives up after the fork of a program with threads
// OUTPUT: child 4
// DEEP: some, the child of a fork begins in the middle
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

int value;

static void writer() {
  reach(1);
  await(2);
  value = 1;  // RACE(a)
}

int main() {
  pthread_t thread = start(writer);
  await(1);
  pid_t child = fork();
  if (child == 0) {
    value = 3;
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  reach(2);
  value = 2;  // RACE(a)
  join(thread);
  printf("child %d\n", WEXITSTATUS(status));
}
