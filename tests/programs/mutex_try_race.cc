// pthread_mutex_trylock fails and the thread goes on as if it had the lock.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

static void holder() {
  pthread_mutex_lock(&mutex);
  reach(1);
  await(2);
  value = 1;  // RACE(a)
  pthread_mutex_unlock(&mutex);
}

static void trier() {
  await(1);
  if (pthread_mutex_trylock(&mutex) != 0) {
    value = 2;  // RACE(a)
  }
  reach(2);
}

int main() {
  run_threads(holder, trier);
}
