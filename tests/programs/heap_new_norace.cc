// delete, delete[], and delete of over-aligned objects after the thread that wrote them has been joined.
#include <new>

#include "harness.h"

struct alignas(64) Wide {
  int value;
};

int* single;
int* array;
Wide* wide;

static void writer() {
  *single = 1;
  array[2] = 1;
  wide->value = 1;
  reach(1);
}

int main() {
  single = new int(0);
  array = new int[4]();
  wide = new Wide();
  pthread_t thread = start(writer);
  await(1);
  join(thread);
  delete single;
  delete[] array;
  delete wide;
}
