// Threads read the environment together, have generators of their own, and look into one table that nobody changes. What
// changes is changed behind the join.
#include <search.h>
#include <stdlib.h>

#include "harness.h"

Apart copy, result;
char key[] = "key";

static void worker() {
  unsigned short generator[3] = {1, 2, 3};
  result.value = getenv("HOME") != nullptr;
  result.value += static_cast<int>(nrand48(generator));
  result.value += hsearch({key, nullptr}, FIND) != nullptr;
  reach(1);
}

int main() {
  hcreate(8);
  copy.value = hsearch({key, key}, ENTER) != nullptr;
  setenv("MODE", "fast", 1);
  pthread_t thread = start(worker);
  await(1);
  copy.value += getenv("HOME") != nullptr;
  copy.value += lrand48() > 0;
  copy.value += hsearch({key, nullptr}, FIND) != nullptr;
  join(thread);
  unsetenv("MODE");
  srand48(1);
  hdestroy();
}
