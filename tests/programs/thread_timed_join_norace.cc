// pthread_tryjoin_np, pthread_timedjoin_np and pthread_clockjoin_np join as pthread_join does.
// TSAN: some, it does not know pthread_clockjoin_np
#include <errno.h>
#include <time.h>

#include "harness.h"

Apart data[3];

static timespec in_a_minute(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += 60;
  return time;
}

int main() {
  pthread_t tried = start([] {
    data[0].value = 1;
    reach(1);
  });
  int status;
  while ((status = pthread_tryjoin_np(tried, nullptr)) == EBUSY) sched_yield();
  data[0].value = 2;
  if (status != 0) join(tried);

  pthread_t timed = start([] {
    data[1].value = 1;
    reach(3);
  });
  await(3);
  timespec real = in_a_minute(CLOCK_REALTIME);
  status = pthread_timedjoin_np(timed, nullptr, &real);
  if (status == 0) data[1].value = 2;
  reach(4);
  if (status != 0) join(timed);

  pthread_t clocked = start([] {
    data[2].value = 1;
    reach(5);
  });
  await(5);
  timespec monotonic = in_a_minute(CLOCK_MONOTONIC);
  status = pthread_clockjoin_np(clocked, nullptr, CLOCK_MONOTONIC, &monotonic);
  if (status == 0) data[2].value = 2;
  reach(6);
  if (status != 0) join(clocked);
}
