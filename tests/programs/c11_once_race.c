// What call_once has not run yet orders nobody.
#include <threads.h>
#include <sched.h>

once_flag once = ONCE_FLAG_INIT;
int data, done;

static void make(void) {
  data = 1;  // RACE(a)
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
}

static int user(void* argument) {
  (void)argument;
  call_once(&once, make);
  return 0;
}

int main(void) {
  thrd_t thread;
  thrd_create(&thread, user, 0);
  while (__atomic_load_n(&done, __ATOMIC_RELAXED) == 0) sched_yield();
  data = 2;  // RACE(a)
  thrd_join(thread, 0);
  return 0;
}
