// call_once orders what it runs before everybody that called it.
#include <threads.h>
#include <sched.h>

once_flag once = ONCE_FLAG_INIT;
int data, done;

static void make(void) {
  data = 1;
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
  call_once(&once, make);
  data = 2;
  thrd_join(thread, 0);
  return 0;
}
