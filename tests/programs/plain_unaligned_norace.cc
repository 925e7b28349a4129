// Accesses that are not aligned, across words of eight bytes, right beside each other.
#include "harness.h"

struct __attribute__((packed)) Packed {
  char first[7];
  int middle;
  short next;
  long last;
} packed;

static void writer() {
  packed.middle = 1;
  packed.last = 2;
}

static void other_writer() {
  packed.first[6] = 3;
  packed.next = 4;
}

int main() {
  run_threads(writer, other_writer);
}
