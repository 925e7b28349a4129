// An error-checking mutex refuses the second lock; the unlock that follows gives it up.
// OUTPUT: deadlock refused
#include <errno.h>
#include <stdio.h>

#include "harness.h"

pthread_mutex_t mutex;
int value;

static void checked() {
  pthread_mutex_lock(&mutex);
  if (pthread_mutex_lock(&mutex) == EDEADLK) {
    puts("deadlock refused");
  }
  pthread_mutex_unlock(&mutex);
  value = 1;  // RACE(a)
  reach(1);
}

static void writer() {
  await(1);
  pthread_mutex_lock(&mutex);
  value = 2;  // RACE(a)
  pthread_mutex_unlock(&mutex);
}

int main() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  run_threads(checked, writer);
}
