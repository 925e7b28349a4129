// A semaphore with room for one.
#include <semaphore>

#include "harness.h"

std::counting_semaphore<2> room(1);
int value;

static void work() {
  room.acquire();
  ++value;
  room.release();
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
