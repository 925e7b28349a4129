// A join that did not wait long enough joins nothing.
// TSAN: some, it does not know pthread_clockjoin_np
#include <errno.h>
#include <time.h>

#include "harness.h"

Apart data[3];

static timespec in_a_minute(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time;
}

int main() {
  pthread_t tried = start([] {
    data[0].value = 1;  // RACE(a)
    reach(1);
    await(2);
  });
  await(1);
  int status = pthread_tryjoin_np(tried, nullptr);
  data[0].value = 2;  // RACE(a)
  reach(2);
  if (status != 0) join(tried);

  pthread_t timed = start([] {
    data[1].value = 1;  // RACE(b)
    reach(3);
    await(4);
  });
  await(3);
  timespec real = in_a_minute(CLOCK_REALTIME);
  status = pthread_timedjoin_np(timed, nullptr, &real);
  data[1].value = 2;  // RACE(b)
  reach(4);
  if (status != 0) join(timed);

  pthread_t clocked = start([] {
    data[2].value = 1;  // RACE(c)
    reach(5);
    await(6);
  });
  await(5);
  timespec monotonic = in_a_minute(CLOCK_MONOTONIC);
  status = pthread_clockjoin_np(clocked, nullptr, CLOCK_MONOTONIC, &monotonic);
  data[2].value = 2;  // RACE(c)
  reach(6);
  if (status != 0) join(clocked);
}
