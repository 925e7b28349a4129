// The room of a semaphore is given back before the work is done.
#include <semaphore>

#include "harness.h"

std::counting_semaphore<2> room(1);
int value;

static void work() {
  room.acquire();
  room.release();
  ++value;  // RACE(a)
}

int main() {
  run_threads(
      [] {
        work();
        reach(1);
      },
      [] {
        await(1);
        work();
      });
}
