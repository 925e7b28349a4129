// A folder is closed while another thread may still read it.
#include <dirent.h>

#include "harness.h"

DIR* folder;

static void user() {
  readdir(folder);  // RACE(a)
  reach(1);
}

int main() {
  folder = opendir("/");
  pthread_t thread = start(user);
  await(1);
  closedir(folder);  // RACE(a)
  join(thread);
}
