// pthread_mutex_trylock until it succeeds.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

static void holder() {
  pthread_mutex_lock(&mutex);
  reach(1);
  value = 1;
  pthread_mutex_unlock(&mutex);
}

static void trier() {
  await(1);
  while (pthread_mutex_trylock(&mutex) != 0) {
    sched_yield();
  }
  value = 2;
  pthread_mutex_unlock(&mutex);
}

int main() {
  run_threads(holder, trier);
}
