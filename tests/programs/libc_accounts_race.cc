// Entries are written, into shared memory by those without _r, and another thread looks at it without waiting.
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
  result.value = getpwuid_r(0, &user, room, sizeof room, &found);  // RACE(a) RACE(b) RACE(c)
  result.value += getpwuid(0) != nullptr;  // RACE(d)
  result.value += getresuid(&ids[0], &ids[16], &ids[32]);  // RACE(e)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = static_cast<int>(user.pw_uid);  // RACE(a)
  copy.value += found != nullptr;  // RACE(b)
  copy.value += room[0];  // RACE(c)
  copy.value += getpwuid(0) != nullptr;  // RACE(d)
  copy.value += static_cast<int>(ids[16]);  // RACE(e)
  join(thread);
}
