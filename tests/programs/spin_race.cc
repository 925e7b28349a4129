// A write after the unlock of a spin lock.
#include "harness.h"

pthread_spinlock_t lock;
int value;

static void first() {
  pthread_spin_lock(&lock);
  pthread_spin_unlock(&lock);
  value = 1;  // RACE(a)
  reach(1);
}

static void second() {
  await(1);
  while (pthread_spin_trylock(&lock) != 0) {
    sched_yield();
  }
  value = 2;  // RACE(a)
  pthread_spin_unlock(&lock);
}

int main() {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  run_threads(first, second);
  pthread_spin_destroy(&lock);
}
