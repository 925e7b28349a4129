// Entries are written, into shared memory by those without _r, and is looked at behind the join.
#include <grp.h>
#include <pwd.h>
#include <sys/types.h>
#include <unistd.h>

#include "harness.h"

passwd user;
alignas(64) passwd* found;
alignas(64) char room[4096];
alignas(64) uid_t ids[48];
Apart copy, result;

static void worker() {
  result.value = getpwuid_r(0, &user, room, sizeof room, &found);
  result.value += getpwuid(0) != nullptr;
  result.value += getresuid(&ids[0], &ids[16], &ids[32]);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = static_cast<int>(user.pw_uid);
  copy.value += found != nullptr;
  copy.value += room[0];
  copy.value += getpwuid(0) != nullptr;
  copy.value += static_cast<int>(ids[16]);
}
