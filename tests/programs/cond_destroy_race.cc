// It is destroyed while another thread may still use it.
#include "harness.h"

pthread_cond_t object;

static void user() {
  pthread_cond_signal(&object);  // RACE(a)
  reach(1);
}

int main() {
  pthread_cond_init(&object, nullptr);
  pthread_t thread = start(user);
  await(1);
  pthread_cond_destroy(&object);  // RACE(a)
  join(thread);
}
