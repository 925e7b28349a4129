// Dates are written, into shared memory by those without _r, and is looked at behind the join.
#include <time.h>

#include "harness.h"

time_t when = 86400;
alignas(64) tm date;
alignas(64) char text[64];
alignas(64) char day[16];
Apart copy, result;

static void worker() {
  result.value = gmtime_r(&when, &date) != nullptr;
  result.value += gmtime(&when)->tm_year;
  tm mine = {};
  mine.tm_mday = 1;
  result.value += asctime_r(&mine, text) != nullptr;
  result.value += static_cast<int>(strftime(day, sizeof day, "%d", &mine));
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = date.tm_year;
  when = 0;
  time_t other = 1;
  tm* shared = gmtime(&other);
  copy.value += shared != nullptr;
  copy.value += text[0];
  copy.value += day[0];
}
