// A semaphore of 1. Both threads write inside.
#include <semaphore.h>

#include "locks.h"

sem_t semaphore;
static void take() { sem_wait(&semaphore); }
static void give() { sem_post(&semaphore); }
int shared, a, b;

static void* first(void*) {
  a = 1;
  take();
  shared = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  take();
  shared = 2;
  give();
  b = 1;
  return nullptr;
}

int main() {
  sem_init(&semaphore, 0, 1);
  run_threads(first, second);
}
