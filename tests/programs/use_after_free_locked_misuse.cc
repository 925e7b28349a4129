// Both threads hold the lock, one frees the memory, and the other uses it all the same.
// TSAN: skip, it does not tell this as misuse
#include <stdlib.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
volatile int* block;
volatile int copy;

static void frees() {
  pthread_mutex_lock(&mutex);
  free(const_cast<int*>(block));
  pthread_mutex_unlock(&mutex);
  reach(1);
}

static void uses() {
  await(1);
  pthread_mutex_lock(&mutex);
  copy = block[2];  // MISUSE(use-after-free)
  pthread_mutex_unlock(&mutex);
}

int main() {
  block = static_cast<int*>(malloc(40));
  block[2] = 1;
  run_threads(frees, uses);
}
