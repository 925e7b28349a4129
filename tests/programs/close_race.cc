// A descriptor is closed while another thread may still use it.
#include <unistd.h>

#include "harness.h"

int ends[2];
Apart result;

static void user() {
  result.value = static_cast<int>(write(ends[1], "x", 1));  // RACE(a)
  reach(1);
}

int main() {
  if (pipe(ends) != 0) return 1;
  pthread_t thread = start(user);
  await(1);
  close(ends[1]);  // RACE(a)
  join(thread);
}
