// A named semaphore is posted after the message is written.
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

sem_t* semaphore;
int message, copy;

static void poster() {
  message = 1;
  sem_post(semaphore);
}

static void waiter() {
  sem_wait(semaphore);
  copy = message;
}

int main() {
  char name[64];
  snprintf(name, sizeof name, "/sooth_programs_%d", static_cast<int>(getpid()));
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
  sem_unlink(name);
  run_threads(poster, waiter);
  sem_close(semaphore);
}
