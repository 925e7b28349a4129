// Of a named semaphore's value, two waits take what was there and one what was posted; opening it again adds nothing, and
// the next semaphore, which may lie in the same place, begins with its own value.
// OUTPUT: 12
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

sem_t* semaphore;
int message, copy, rounds;

static void poster() {
  message = rounds + 1;
  sem_post(semaphore);
  reach(1 + rounds);
}

static void waiter() {
  await(1 + rounds);
  for (int i = rounds == 0 ? 3 : 1; i > 0; --i) sem_wait(semaphore);
  copy = message;
}

int main() {
  char name[64];
  snprintf(name, sizeof name, "/sooth_programs_%d", static_cast<int>(getpid()));
  sem_close(sem_open(name, O_CREAT | O_EXCL, 0600, 2));
  semaphore = sem_open(name, 0);
  sem_t* again = sem_open(name, O_CREAT, 0600, 7);
  run_threads(poster, waiter);
  const int first = copy;
  sem_post(semaphore);  // left
  sem_close(again);
  sem_close(semaphore);
  sem_unlink(name);
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
  sem_unlink(name);
  rounds = 1;
  run_threads(poster, waiter);
  sem_close(semaphore);
  printf("%d%d\n", first, copy);
}
