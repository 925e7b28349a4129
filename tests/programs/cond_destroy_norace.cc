// It is destroyed when the thread that used it has ended.
#include "harness.h"

pthread_cond_t object;

static void user() {
  pthread_cond_signal(&object);
}

int main() {
  pthread_cond_init(&object, nullptr);
  pthread_t thread = start(user);
  join(thread);
  pthread_cond_destroy(&object);
}
