// A semaphore of 1. The first thread writes in front of its critical section, the second behind its own.
// LOCK
#include <semaphore.h>

#include "locks.h"

sem_t semaphore;
static void take() { sem_wait(&semaphore); }
static void give() { sem_post(&semaphore); }
int shared, a, b;

static void* first(void*) {
  shared = 1;  // RACE
  take();
  a = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  take();
  b = 1;
  give();
  shared = 2;  // RACE
  return nullptr;
}

int main() {
  sem_init(&semaphore, 0, 1);
  run_threads(first, second);
}
