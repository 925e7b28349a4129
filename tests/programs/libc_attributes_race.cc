// Attributes of threads are written, and another thread looks at it without waiting.
#include <sched.h>
#include <cstddef>

#include "harness.h"

std::size_t size;
alignas(64) char name[16];
alignas(64) cpu_set_t processors;
alignas(64) int state;
Apart copy, result;

static void worker() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  result.value = pthread_attr_getstacksize(&attributes, &size);  // RACE(a)
  pthread_attr_destroy(&attributes);
  result.value += pthread_getname_np(pthread_self(), name, sizeof name);  // RACE(b)
  result.value += sched_getaffinity(0, sizeof processors, &processors);  // RACE(c)
  result.value += pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);  // RACE(d)
  reach(1);
}

int main() {
  pthread_t thread = start(worker);
  await(1);
  copy.value = size > 0;  // RACE(a)
  copy.value += name[0];  // RACE(b)
  copy.value += processors.__bits[0] > 0;  // RACE(c)
  copy.value += state;  // RACE(d)
  join(thread);
}
