// It is destroyed when the thread that used it has ended.
#include "harness.h"

pthread_barrier_t object;

static void user() {
  pthread_barrier_wait(&object);
}

int main() {
  pthread_barrier_init(&object, nullptr, 1);
  pthread_t thread = start(user);
  join(thread);
  pthread_barrier_destroy(&object);
}
