// A cancelled thread runs its cleanup handler while the canceller goes on.
// OUTPUT: canceled
#include <stdio.h>

#include "harness.h"

int value;

static void clean_up(void*) {
  value = 1;  // RACE(a)
  reach(2);
}

static void* wait_for_cancel(void*) {
  pthread_cleanup_push(clean_up, nullptr);
  reach(1);
  while (true) {
    pthread_testcancel();
    sched_yield();
  }
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, wait_for_cancel, nullptr);
  await(1);
  pthread_cancel(thread);
  await(2);
  value = 2;  // RACE(a)
  void* result = nullptr;
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "canceled" : "returned");
}
