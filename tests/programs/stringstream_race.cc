// Two threads write into one stream of strings, whose code is in libstdc++.so.
// TSAN: none, it does not see what these functions touch
#include <sstream>

#include "harness.h"

std::ostringstream numbers, words, texts, strings;

static void worker() {
  numbers << 1;  // RACE(a)
  words.put('x');  // RACE(b)
  texts << "one";  // RACE(c)
  strings << std::string("one");  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  numbers << 2.5;  // RACE(a)
  words.put('y');  // RACE(b)
  texts << "two";  // RACE(c)
  strings << std::string("two");  // RACE(d)
  join(thread);
}
