// Spin locks, also tried.
#include "harness.h"

pthread_spinlock_t lock;
int value;

static void first() {
  pthread_spin_lock(&lock);
  value = 1;
  pthread_spin_unlock(&lock);
}

static void second() {
  while (pthread_spin_trylock(&lock) != 0) {
    sched_yield();
  }
  value = 2;
  pthread_spin_unlock(&lock);
}

int main() {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  run_threads(first, second);
  pthread_spin_destroy(&lock);
}
