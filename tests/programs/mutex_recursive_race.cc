// After the last unlock of a recursive mutex the write is not protected.
#include "harness.h"

pthread_mutex_t mutex;
int value;

static void recursive() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
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
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  run_threads(recursive, writer);
  pthread_mutex_destroy(&mutex);
}
