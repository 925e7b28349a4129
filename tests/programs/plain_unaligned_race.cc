// Accesses that are not aligned, across words of eight bytes, and share one byte.
#include "harness.h"

struct __attribute__((packed)) Packed {
  char first[7];
  int middle;
  short next;
  long last;
} packed;

static void writer() {
  packed.middle = 1;  // RACE(a)
  packed.last = 2;    // RACE(b)
}

static void other_writer() {
  packed.first[7 + 3] = 3;                   // RACE(a)
  reinterpret_cast<char*>(&packed)[20] = 4;  // RACE(b)
}

int main() {
  run_threads(writer, other_writer);
}
