// A thread unlocks the mutex that another thread holds.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void locker() {
  pthread_mutex_lock(&mutex);
  reach(1);
}

static void unlocker() {
  await(1);
  pthread_mutex_unlock(&mutex);  // MISUSE(unlock)
}

int main() {
  run_threads(locker, unlocker);
}
