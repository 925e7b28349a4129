// A std::counting_semaphore of 1. Both threads write inside.
#include <semaphore>

#include "locks.h"

std::counting_semaphore<4> semaphore{1};
static void take() { semaphore.acquire(); }
static void give() { semaphore.release(); }
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

int main() { run_threads(first, second); }
