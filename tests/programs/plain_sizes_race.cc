// Plain accesses of 1, 2, 4, 8 and 16 bytes by two threads that nothing orders.
#include "harness.h"

char one;
short two;
int four;
long eight;
__int128 sixteen;

static void writer() {
  one = 1;      // RACE(a)
  two = 2;      // RACE(b)
  four = 3;     // RACE(c)
  eight = 4;    // RACE(d)
  sixteen = 5;  // RACE(e)
}

static void other_writer() {
  one = 6;       // RACE(a)
  two = 7;       // RACE(b)
  four = 8;      // RACE(c)
  eight = 9;     // RACE(d)
  sixteen = 10;  // RACE(e)
}

int main() {
  run_threads(writer, other_writer);
}
