// Where names lead to is written, and another thread looks at it without waiting.
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

char path[PATH_MAX];
alignas(64) char link_name[] = "/proc/self";
alignas(64) char target[64];
alignas(64) char here[PATH_MAX];
Apart copy, result;

static void worker() {
  result.value = realpath("/", path) != nullptr;  // RACE(a)
  result.value += static_cast<int>(readlink(link_name, target, sizeof target));  // RACE(b) RACE(c)
  result.value += getcwd(here, sizeof here) != nullptr;  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = path[0];  // RACE(a)
  link_name[0] = 'x';  // RACE(b)
  copy.value += target[0];  // RACE(c)
  copy.value += here[0];  // RACE(d)
  join(thread);
}
