// Mutexes are destroyed behind their last use: by whoever held it last, as POSIX allows; behind a join; behind a release
// and an acquire of something else.
#include "harness.h"

pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER, joined = PTHREAD_MUTEX_INITIALIZER, told = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t read_by_all = PTHREAD_RWLOCK_INITIALIZER;
int users = 2, done, joined_uses, told_uses;

void use(pthread_mutex_t* mutex, int* uses) {
  pthread_mutex_lock(mutex);
  ++*uses;
  pthread_mutex_unlock(mutex);
}

void work() {
  use(&joined, &joined_uses);
  use(&told, &told_uses);
  pthread_rwlock_rdlock(&read_by_all);
  pthread_rwlock_unlock(&read_by_all);
  __atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
  pthread_mutex_lock(&last);
  const bool is_last = --users == 0;
  pthread_mutex_unlock(&last);
  if (is_last) {
    pthread_mutex_destroy(&last);
  }
}

int main() {
  pthread_t one = start(work), two = start(work);
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < 2) {
    sched_yield();
  }
  pthread_mutex_destroy(&told);
  join(one);
  join(two);
  pthread_mutex_destroy(&joined);
  pthread_rwlock_destroy(&read_by_all);
}
