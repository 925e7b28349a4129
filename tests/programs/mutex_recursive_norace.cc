// A recursive mutex that was locked twice is still held after one unlock.
#include "harness.h"

pthread_mutex_t mutex;
int value;

static void recursive() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  value = 1;
  pthread_mutex_unlock(&mutex);
}

static void writer() {
  pthread_mutex_lock(&mutex);
  value = 2;
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
