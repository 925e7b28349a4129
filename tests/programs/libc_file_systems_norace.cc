// What is told of files and their systems is written, and is looked at behind the join.
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
  result.value = stat("/", &file);
  result.value += statfs("/", &system_of);
  result.value += statvfs("/", &other);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = static_cast<int>(file.st_mode);
  copy.value += static_cast<int>(system_of.f_type);
  copy.value += static_cast<int>(other.f_bsize);
}
