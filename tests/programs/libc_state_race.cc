// Threads change the environment while another reads it, and share the generator of drand48() and the table of hsearch().
// TSAN: some, it does not see what these functions share
#include <search.h>
#include <stdlib.h>

#include "harness.h"

Apart copy, result;
char key[] = "key";
unsigned short generator[3] = {1, 2, 3};

static void worker() {
  setenv("MODE", "fast", 1);                  // RACE(a) RACE(b)
  result.value = static_cast<int>(lrand48());  // RACE(c) RACE(d)
  result.value += hsearch({key, key}, ENTER) != nullptr;  // RACE(e)
  result.value += nrand48(generator) > 0;                 // RACE(f)
  reach(1);
}

int main() {
  hcreate(8);
  pthread_t thread = start(worker);
  await(1);
  copy.value = getenv("HOME") != nullptr;  // RACE(a)
  unsetenv("MODE");                        // RACE(b)
  srand48(1);                              // RACE(c)
  copy.value += drand48() > 2;             // RACE(d)
  copy.value += hsearch({key, nullptr}, FIND) != nullptr;  // RACE(e)
  copy.value += erand48(generator) > 2;                    // RACE(f)
  join(thread);
  hdestroy();
}
