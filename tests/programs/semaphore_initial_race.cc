// A wait that the initial value serves need not come behind a post, even if it did.
// TSAN: some, a wait comes behind all earlier posts for it
// OUTPUT: 1
#include <semaphore.h>
#include <stdio.h>

#include "harness.h"

sem_t semaphore;
int message, copy;

static void poster() {
  message = 1;  // RACE(a)
  sem_post(&semaphore);
  reach(1);
}

static void waiter() {
  await(1);
  sem_wait(&semaphore);
  copy = message;  // RACE(a)
}

int main() {
  sem_init(&semaphore, 0, 1);
  run_threads(poster, waiter);
  sem_destroy(&semaphore);
  printf("%d\n", copy);
}
