// A program that goes on in the background, where it works with threads; what is in front waits for a byte of it.
// OUTPUT: the daemon counts to 200
// DEEP: some, the child of a fork begins in the middle
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

static void work() {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    ++value;
    pthread_mutex_unlock(&mutex);
  }
}

static void serve(int to) {
  if (daemon(1, 0) != 0)
    _exit(1);
  run_threads(work, work);
  char answer = static_cast<char>(value);
  _exit(write(to, &answer, 1) == 1 ? 0 : 1);
}

int main() {
  int ends[2];
  if (pipe(ends) != 0)
    return 1;
  pid_t child = fork();
  if (child == 0)
    serve(ends[1]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
  unsigned char answer = 0;
  if (read(ends[0], &answer, 1) == 1)
    printf("the daemon counts to %d\n", answer);
}
