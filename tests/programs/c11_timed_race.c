// mtx_timedlock that came too late protects nothing.
#include <sched.h>
#include <threads.h>
#include <time.h>

mtx_t mutex;
int data, steps;

static int user(void* argument) {
  (void)argument;
  mtx_lock(&mutex);
  __atomic_store_n(&steps, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&steps, __ATOMIC_RELAXED) < 2) sched_yield();
  data = 1;  // RACE(a)
  mtx_unlock(&mutex);
  return 0;
}

int main(void) {
  mtx_init(&mutex, mtx_timed);
  thrd_t thread;
  thrd_create(&thread, user, 0);
  while (__atomic_load_n(&steps, __ATOMIC_RELAXED) == 0) sched_yield();
  struct timespec until;
  timespec_get(&until, TIME_UTC);
  int status = mtx_timedlock(&mutex, &until);
  data = 2;  // RACE(a)
  if (status == thrd_success) mtx_unlock(&mutex);
  __atomic_store_n(&steps, 2, __ATOMIC_RELAXED);
  thrd_join(thread, 0);
  return 0;
}
