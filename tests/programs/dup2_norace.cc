// A descriptor is replaced while another thread may use it: that is done in one step.
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

int fd, other;

static void replacer() {
  dup2(other, fd);
  reach(1);
}

int main() {
  fd = open("/dev/null", O_WRONLY);
  other = open("/dev/null", O_WRONLY);
  pthread_t thread = start(replacer);
  await(1);
  if (write(fd, "x", 1) != 1) return 1;
  join(thread);
}
