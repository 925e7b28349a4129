// A std::counting_semaphore of 1. The first thread writes in front of its critical section, the second behind its own.
#include <semaphore>

#include "locks.h"

std::counting_semaphore<4> semaphore{1};
static void take() { semaphore.acquire(); }
static void give() { semaphore.release(); }
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

int main() { run_threads(first, second); }
