// It is destroyed while another thread may still use it.
#include "harness.h"

pthread_barrier_t object;

static void user() {
  pthread_barrier_wait(&object);  // RACE(a)
  reach(1);
}

int main() {
  pthread_barrier_init(&object, nullptr, 1);
  pthread_t thread = start(user);
  await(1);
  pthread_barrier_destroy(&object);  // RACE(a)
  join(thread);
}
