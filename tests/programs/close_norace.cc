// A descriptor is closed when the thread that used it has ended, and its number is used again. Threads that nothing
// orders make and close descriptors of their own, which have the same numbers.
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart result;

static void user() {
  result.value = static_cast<int>(write(ends[1], "x", 1));
}

static void maker() {
  int own[2];
  if (pipe(own) != 0) return;
  int copy = dup(own[0]);
  close(own[0]);
  close(own[1]);
  close(copy);
  reach_one_more();
}

int main() {
  if (pipe(ends) != 0) return 1;
  pthread_t thread = start(user);
  join(thread);
  close(ends[1]);
  ends[1] = dup(ends[0]);
  close(ends[1]);
  pthread_t first = start(maker);
  await(1);
  pthread_t second = start(maker);
  join(first);
  join(second);
}
