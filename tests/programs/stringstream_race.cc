// Two threads write into one stream of strings, whose code is in libstdc++.so.
// TSAN: none, it does not see what these functions touch
#include <sstream>

#include "harness.h"

std::ostringstream numbers, words;

static void worker() {
  numbers << 1;  // RACE(a)
  words.put('x');  // RACE(b)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  numbers << 2.5;  // RACE(a)
  words.put('y');  // RACE(b)
  join(thread);
}
