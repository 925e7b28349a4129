// A descriptor is closed while another thread may replace it.
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

int fd, other;

static void replacer() {
  dup2(other, fd);  // RACE(a)
  reach(1);
}

int main() {
  fd = open("/dev/null", O_WRONLY);
  other = open("/dev/null", O_WRONLY);
  pthread_t thread = start(replacer);
  await(1);
  close(fd);  // RACE(a)
  join(thread);
}
