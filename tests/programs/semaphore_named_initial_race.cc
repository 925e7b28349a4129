// A wait that the initial value of a named semaphore serves need not come behind a post, even if it did.
// TSAN: some, a wait comes behind all earlier posts for it
// OUTPUT: 1
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

sem_t* semaphore;
int message, copy;

static void poster() {
  message = 1;  // RACE(a)
  sem_post(semaphore);
  reach(1);
}

static void waiter() {
  await(1);
  sem_wait(semaphore);
  copy = message;  // RACE(a)
}

int main() {
  char name[64];
  snprintf(name, sizeof name, "/sooth_programs_%d", static_cast<int>(getpid()));
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  sem_unlink(name);
  run_threads(poster, waiter);
  sem_close(semaphore);
  printf("%d\n", copy);
}
