// One mutex for both writes.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

static void writer() {
  pthread_mutex_lock(&mutex);
  value = 1;
  pthread_mutex_unlock(&mutex);
}

static void other_writer() {
  pthread_mutex_lock(&mutex);
  value = 2;
  pthread_mutex_unlock(&mutex);
}

int main() {
  run_threads(writer, other_writer);
}
