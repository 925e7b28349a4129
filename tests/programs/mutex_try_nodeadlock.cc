// Two locks in opposite order, but the second one is only tried: nobody waits for ever.
#include "quiet_steps.h"

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int value;

static void use_both(pthread_mutex_t* first, pthread_mutex_t* second) {
  pthread_mutex_lock(first);
  if (pthread_mutex_trylock(second) == 0) {
    ++value;
    pthread_mutex_unlock(second);
  }
  pthread_mutex_unlock(first);
}

static void one() {
  use_both(&a, &b);
  quiet_reach(1);
}

static void other() {
  quiet_await(1);
  use_both(&b, &a);
}

// Tries that fail, because somebody waits with the lock.
static void holder() {
  pthread_mutex_lock(&a);
  quiet_reach(2);
  quiet_await(3);
  pthread_mutex_unlock(&a);
}

static void loser() {
  quiet_await(2);
  use_both(&b, &a);
  quiet_reach(3);
}

int main() {
  run_threads(one, other);
  run_threads(holder, loser);
}
