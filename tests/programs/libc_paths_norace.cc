// Where names lead to is written, and is looked at behind the join.
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
  result.value = realpath("/", path) != nullptr;
  result.value += static_cast<int>(readlink(link_name, target, sizeof target));
  result.value += getcwd(here, sizeof here) != nullptr;
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = path[0];
  link_name[0] = 'x';
  copy.value += target[0];
  copy.value += here[0];
}
