// A spin lock that is tried until it was taken.
#include "harness.h"

pthread_spinlock_t lock;
int value;

static void holder() {
  pthread_spin_lock(&lock);
  reach(1);
  value = 1;
  pthread_spin_unlock(&lock);
}

static void trier() {
  await(1);
  bool taken = true;
  while (pthread_spin_trylock(&lock) != 0) sched_yield();
  value = 2;
  if (taken) pthread_spin_unlock(&lock);
  reach(2);
}

int main() {
  pthread_spin_init(&lock, 0);
  run_threads(holder, trier);
  pthread_spin_destroy(&lock);
}
