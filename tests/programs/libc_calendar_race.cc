// Dates are written, into shared memory by those without _r, and another thread looks at it without waiting.
// TSAN: some, it does not see what all of these functions touch
#include <time.h>

#include "harness.h"

time_t when = 86400;
alignas(64) tm date;
alignas(64) char text[64];
alignas(64) char day[16];
Apart copy, result;

static void worker() {
  result.value = gmtime_r(&when, &date) != nullptr;  // RACE(a) RACE(b)
  result.value += gmtime(&when)->tm_year;  // RACE(c) RACE(d)
  tm mine = {};
  mine.tm_mday = 1;
  result.value += asctime_r(&mine, text) != nullptr;  // RACE(e)
  result.value += static_cast<int>(strftime(day, sizeof day, "%d", &mine));  // RACE(f)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = date.tm_year;  // RACE(a)
  when = 0;  // RACE(b) RACE(c)
  time_t other = 1;
  tm* shared = gmtime(&other);  // RACE(d)
  copy.value += shared != nullptr;
  copy.value += text[0];  // RACE(e)
  copy.value += day[0];  // RACE(f)
  join(thread);
}
