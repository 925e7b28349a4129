// What is told of terminals and devices is written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"

char name[L_ctermid];
alignas(64) int ends[2];
alignas(64) int waiting;
Apart copy, result;

static void worker() {
  result.value = ctermid(name) != nullptr;  // RACE(a)
  int mine[2];
  result.value += pipe(mine);
  result.value += ioctl(mine[0], FIONREAD, &waiting);  // RACE(b)
  result.value += pipe(ends);  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = name[0];  // RACE(a)
  copy.value += waiting;  // RACE(b)
  copy.value += ends[0];  // RACE(c)
  join(thread);
}
