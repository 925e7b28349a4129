// A mutex is destroyed while it is locked.
#include "harness.h"

pthread_mutex_t mutex;
int value;

int main() {
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_lock(&mutex);
  value = 1;
  pthread_mutex_destroy(&mutex);  // MISUSE(destroy-locked)
}
