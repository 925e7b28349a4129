// A spin lock that could not be taken protects nothing.
#include "harness.h"

pthread_spinlock_t lock;
int value;

static void holder() {
  pthread_spin_lock(&lock);
  reach(1);
  await(2);
  value = 1;  // RACE(a)
  pthread_spin_unlock(&lock);
}

static void trier() {
  await(1);
  bool taken = pthread_spin_trylock(&lock) == 0;
  value = 2;  // RACE(a)
  if (taken) pthread_spin_unlock(&lock);
  reach(2);
}

int main() {
  pthread_spin_init(&lock, 0);
  run_threads(holder, trier);
  pthread_spin_destroy(&lock);
}
