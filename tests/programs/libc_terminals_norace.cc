// What is told of terminals and devices is written, and is looked at behind the join.
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"

char name[L_ctermid];
alignas(64) int ends[2];
alignas(64) int waiting;
Apart copy, result;

static void worker() {
  result.value = ctermid(name) != nullptr;
  int mine[2];
  result.value += pipe(mine);
  result.value += ioctl(mine[0], FIONREAD, &waiting);
  result.value += pipe(ends);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = name[0];
  copy.value += waiting;
  copy.value += ends[0];
}
