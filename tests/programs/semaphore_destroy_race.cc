// It is destroyed while another thread may still use it.
// TSAN: some, it does not look at semaphores
#include <semaphore.h>

#include "harness.h"

sem_t object;

static void user() {
  sem_post(&object);  // RACE(a)
  reach(1);
}

int main() {
  sem_init(&object, 0, 0);
  pthread_t thread = start(user);
  await(1);
  sem_destroy(&object);  // RACE(a)
  join(thread);
}
