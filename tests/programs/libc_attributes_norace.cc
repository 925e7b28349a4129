// Attributes of threads are written, and is looked at behind the join.
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
  result.value = pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  result.value += pthread_getname_np(pthread_self(), name, sizeof name);
  result.value += sched_getaffinity(0, sizeof processors, &processors);
  result.value += pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
}

int main() {
  pthread_t thread = start(worker);
  join(thread);
  copy.value = size > 0;
  copy.value += name[0];
  copy.value += processors.__bits[0] > 0;
  copy.value += state;
}
