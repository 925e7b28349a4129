// A mutex is unlocked a second time.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

int main() {
  pthread_mutex_lock(&mutex);
  value = 1;
  pthread_mutex_unlock(&mutex);
  pthread_mutex_unlock(&mutex);  // MISUSE(unlock)
}
