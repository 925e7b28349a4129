// It is destroyed when the thread that used it has ended.
#include <semaphore.h>

#include "harness.h"

sem_t object;

static void user() {
  sem_post(&object);
}

int main() {
  sem_init(&object, 0, 0);
  pthread_t thread = start(user);
  join(thread);
  sem_destroy(&object);
}
