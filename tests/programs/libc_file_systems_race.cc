// What is told of files and their systems is written, and another thread looks at it without waiting.
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "harness.h"

struct stat file;
alignas(64) struct statfs system_of;
alignas(64) struct statvfs other;
Apart copy, result;

static void worker() {
  result.value = stat("/", &file);  // RACE(a)
  result.value += statfs("/", &system_of);  // RACE(b)
  result.value += statvfs("/", &other);  // RACE(c)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = static_cast<int>(file.st_mode);  // RACE(a)
  copy.value += static_cast<int>(system_of.f_type);  // RACE(b)
  copy.value += static_cast<int>(other.f_bsize);  // RACE(c)
  join(thread);
}
