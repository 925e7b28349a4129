// A cancelled thread has run its cleanup handler when it is joined.
// OUTPUT: canceled
#include <stdio.h>

#include "harness.h"

int value;

static void clean_up(void*) {
  value = 1;
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
  void* result = nullptr;
  pthread_join(thread, &result);
  value = 2;
  puts(result == PTHREAD_CANCELED ? "canceled" : "returned");
}
