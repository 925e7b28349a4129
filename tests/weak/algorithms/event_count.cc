// A waiter that says that it sleeps, and a notifier that wakes only who does. Weakened: the fence of the waiter is not sequentially
// consistent, so both miss the other's store, and nobody is woken.
#include <semaphore.h>

#include "order.h"

std::atomic<bool> is_ready{false}, sleeps{false};
sem_t wakes;

void wait() {
  sleeps.store(true, relaxed);
  std::atomic_thread_fence(ORDER(seq_cst, acq_rel));
  if (!is_ready.load(relaxed)) sem_wait(&wakes);
}

void notify() {
  is_ready.store(true, relaxed);
  std::atomic_thread_fence(seq_cst);
  if (sleeps.load(relaxed)) sem_post(&wakes);
}

int main() {
  sem_init(&wakes, 0, 0);
  run_both(wait, notify);
}
