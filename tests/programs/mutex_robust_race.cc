// The owner of a robust mutex dies with it; what it wrote before it took the mutex elsewhere is not protected.
// MACHINES: x86_64
// TSAN: skip, it does not order the death of an owner
// OUTPUT: owner died
#include <errno.h>
#include <stdio.h>

#include "harness.h"

pthread_mutex_t mutex;
int value, outside;

static void dies() {
  pthread_mutex_lock(&mutex);
  value = 1;
  reach(1);
  outside = 1;  // RACE(a)
}

static void heir() {
  await(1);
  outside = 2;  // RACE(a)
  int status = pthread_mutex_lock(&mutex);
  while (status == 0 && value == 0) {
    pthread_mutex_unlock(&mutex);
    sched_yield();
    status = pthread_mutex_lock(&mutex);
  }
  if (status == EOWNERDEAD) {
    puts("owner died");
    pthread_mutex_consistent(&mutex);
  }
  value = 2;
  pthread_mutex_unlock(&mutex);
}

int main() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  run_threads(dies, heir);
}
