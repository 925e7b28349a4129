// What a try has taken is held: one thread then waits for ever for what the other one has.
#include "quiet_steps.h"

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int value;

static void trier() {
  if (pthread_mutex_trylock(&a) == 0) {
    pthread_mutex_lock(&b);  // DEADLOCK(both)
    ++value;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
  }
  quiet_reach(1);
}

static void waiter() {
  quiet_await(1);
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);  // DEADLOCK(both)
  ++value;
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
}

int main() {
  run_threads(trier, waiter);
}
