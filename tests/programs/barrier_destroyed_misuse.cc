// A barrier is used behind its end, and made again.
// TSAN: skip, it does not know
#include "harness.h"

pthread_barrier_t barrier;

int main() {
  pthread_barrier_init(&barrier, nullptr, 1);
  pthread_barrier_wait(&barrier);
  pthread_barrier_destroy(&barrier);
  pthread_barrier_wait(&barrier);  // MISUSE(invalid-use)
  pthread_barrier_init(&barrier, nullptr, 1);
  pthread_barrier_wait(&barrier);
  pthread_barrier_destroy(&barrier);
}
