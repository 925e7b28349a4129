// The clean-up of a cancelled thread, which has been waiting for a condition, has its mutex; the join comes behind it.
// OUTPUT: 2
#include <stdio.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int waits, value;

static void clean(void*) {
  ++value;
  pthread_mutex_unlock(&mutex);
}
static void worker() {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean, nullptr);
  waits = 1;
  for (;;) pthread_cond_wait(&changed, &mutex);
  pthread_cleanup_pop(0);
}

int main() {
  pthread_t thread = start(worker);
  for (bool there = false; !there;) {
    pthread_mutex_lock(&mutex);
    there = waits != 0;
    pthread_mutex_unlock(&mutex);
    sched_yield();
  }
  pthread_cancel(thread);
  join(thread);
  ++value;
  printf("%d\n", value);
}
