// Two waits, of which the initial value serves one; and a semaphore that lies where another one had posts left.
// OUTPUT: 12
#include <semaphore.h>
#include <stdio.h>

#include "harness.h"

sem_t semaphore;
int message, copy, rounds;

static void poster() {
  message = rounds + 1;
  sem_post(&semaphore);
  reach(1 + rounds);
}

static void waiter() {
  await(1 + rounds);
  sem_wait(&semaphore);
  if (rounds == 0) sem_wait(&semaphore);
  copy = message;
}

static void locker() {
  for (int i = 0; i < 3; ++i) {
    sem_wait(&semaphore);
    ++copy;
    sem_post(&semaphore);
  }
}

int main() {
  sem_init(&semaphore, 0, 1);
  run_threads(poster, waiter);
  const int first = copy;
  sem_init(&semaphore, 0, 1);
  run_threads(locker, locker);  // leaves one
  sem_init(&semaphore, 0, 0);
  rounds = 1;
  run_threads(poster, waiter);
  printf("%d%d\n", first, copy);
}
