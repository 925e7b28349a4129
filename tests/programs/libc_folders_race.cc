// Entries of folders are written, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <dirent.h>
#include <stdlib.h>

#include "harness.h"

dirent* entry;
alignas(64) dirent** list;
alignas(64) char path[] = "/proc/self";
Apart copy, result;

static void worker() {
  DIR* folder = opendir(path);  // RACE(a)
  entry = readdir(folder);  // RACE(b) RACE(c)
  result.value = scandir("/proc/self", &list, nullptr, alphasort);  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  path[1] = 'P';  // RACE(a)
  dirent* seen = entry;  // RACE(b)
  copy.value = seen->d_name[0];  // RACE(c)
  copy.value += list != nullptr;  // RACE(d)
  join(thread);
}
