// A folder is closed when the other thread is done.
#include <dirent.h>

#include "harness.h"

DIR* folder;

static void user() {
  readdir(folder);
  reach(1);
}

int main() {
  folder = opendir("/");
  pthread_t thread = start(user);
  join(thread);
  closedir(folder);
}
