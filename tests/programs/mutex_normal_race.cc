// Two mutexes where there should be one.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

static void writer() {
  pthread_mutex_lock(&mutex);
  value = 1;  // RACE(a)
  pthread_mutex_unlock(&mutex);
}

static void other_writer() {
  pthread_mutex_lock(&other_mutex);
  value = 2;  // RACE(a)
  pthread_mutex_unlock(&other_mutex);
}

int main() {
  run_threads(writer, other_writer);
}
