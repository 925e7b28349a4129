// A reader that got in by a try keeps a writer waiting, and waits itself.
#include "quiet_steps.h"

pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;

static void trier() {
  if (pthread_rwlock_tryrdlock(&a) == 0) {
    pthread_rwlock_rdlock(&b);  // DEADLOCK(both)
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
  }
  quiet_reach(1);
}

static void writer() {
  quiet_await(1);
  pthread_rwlock_wrlock(&b);
  pthread_rwlock_wrlock(&a);  // DEADLOCK(both)
  pthread_rwlock_unlock(&a);
  pthread_rwlock_unlock(&b);
}

int main() {
  run_threads(trier, writer);
}
