// Entries of folders are written, and is looked at behind the join.
#include <dirent.h>
#include <stdlib.h>

#include "harness.h"

dirent* entry;
alignas(64) dirent** list;
alignas(64) char path[] = "/proc/self";
Apart copy, result;

static void worker() {
  DIR* folder = opendir(path);
  entry = readdir(folder);
  result.value = scandir("/proc/self", &list, nullptr, alphasort);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  path[1] = 'P';
  dirent* seen = entry;
  copy.value = seen->d_name[0];
  copy.value += list != nullptr;
}
