// A mutex is locked after it was destroyed.
#include "harness.h"

pthread_mutex_t mutex;
int value;

int main() {
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_lock(&mutex);
  value = 1;
  pthread_mutex_unlock(&mutex);
  pthread_mutex_destroy(&mutex);
  if (pthread_mutex_lock(&mutex) == 0) {  // MISUSE(invalid-use)
    value = 2;
  }
}
