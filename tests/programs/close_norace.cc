// A descriptor is closed when the thread that used it has ended, and its number is used again.
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart result;

static void user() {
  result.value = static_cast<int>(write(ends[1], "x", 1));
}

int main() {
  if (pipe(ends) != 0) return 1;
  pthread_t thread = start(user);
  join(thread);
  close(ends[1]);
  ends[1] = dup(ends[0]);
  close(ends[1]);
}
