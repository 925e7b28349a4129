// writev and readv: what is written behind the call does not go with it.
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"

int ends[2], data;

static void sender() {
  char bytes[2] = {1, 2};
  iovec parts[2] = {{&bytes[0], 1}, {&bytes[1], 1}};
  if (writev(ends[1], parts, 2) != 2) return;
  data = 1;  // RACE(a)
}

static void receiver() {
  char bytes[2];
  iovec parts[2] = {{&bytes[0], 1}, {&bytes[1], 1}};
  if (readv(ends[0], parts, 2) != 2) return;
  data = 2;  // RACE(a)
}

int main() {
  if (pipe(ends) != 0) return 1;
  run_threads(sender, receiver);
}
