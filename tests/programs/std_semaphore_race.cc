// A C++20 semaphore with an initial value lets both threads in.
#include <semaphore>

#include "harness.h"

std::counting_semaphore<4> semaphore(2);
int value, message;

static void first() {
  semaphore.acquire();
  reach_one_more();
  await(2);
  value = 1;  // RACE(a)
  semaphore.release();
}

static void second() {
  semaphore.acquire();
  reach_one_more();
  await(2);
  value = 2;  // RACE(a)
  semaphore.release();
}

int main() {
  run_threads(first, second);
}
