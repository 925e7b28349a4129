// delete, delete[], and delete of over-aligned objects while another thread writes them.
#include <new>

#include "harness.h"

struct alignas(64) Wide {
  int value;
};

int* single;
int* array;
Wide* wide;

static void writer() {
  *single = 1;      // RACE(a)
  array[2] = 1;     // RACE(b)
  wide->value = 1;  // RACE(c)
  reach(1);
}

int main() {
  single = new int(0);
  array = new int[4]();
  wide = new Wide();
  pthread_t thread = start(writer);
  await(1);
  delete single;   // RACE(a)
  delete[] array;  // RACE(b)
  delete wide;     // RACE(c)
  join(thread);
}
