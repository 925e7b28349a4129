// A thread that may be cancelled anywhere, and is, in the middle of a loop. In C: of C++, compilers for ThreadSanitizer promise that nobody
// unwinds the stack from an access.
// OUTPUT: cancelled
// DEEP: some, a thread is cancelled between a hook and its access
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int counter;
static int ready;

static void* work(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
  for (;;) counter = counter + 1;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) == 0) {
  }
  usleep(1000);
  pthread_cancel(thread);
  void* result = NULL;
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "cancelled" : "returned");
}
