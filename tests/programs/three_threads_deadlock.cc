// A ring of three, with a reader-writer lock in it and reads of shared memory on the way.
#include "quiet_steps.h"

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
int limit;
Apart sums[3];

static void first() {
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&a);
    sums[0].value += limit;
    pthread_rwlock_rdlock(&b);  // DEADLOCK(ring)
    pthread_rwlock_unlock(&b);
    pthread_mutex_unlock(&a);
  }
  quiet_reach(1);
}

static void second() {
  quiet_await(1);
  pthread_rwlock_wrlock(&b);
  sums[1].value += limit;
  pthread_mutex_lock(&c);  // DEADLOCK(ring)
  pthread_mutex_unlock(&c);
  pthread_rwlock_unlock(&b);
  quiet_reach(2);
}

static void third() {
  quiet_await(2);
  pthread_mutex_lock(&c);
  sums[2].value += limit;
  pthread_mutex_lock(&a);  // DEADLOCK(ring)
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&c);
}

int main() {
  limit = 7;
  pthread_t threads[] = {start(first), start(second), start(third)};
  for (pthread_t thread : threads) {
    join(thread);
  }
}
