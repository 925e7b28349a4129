// Two wait for a condition variable, and the one that waits longer need not be the one that is woken first.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int waiting, message, copy;

static void await_waiters(int count) {
  while (waiting < count) {
    pthread_mutex_unlock(&mutex);
    sched_yield();
    pthread_mutex_lock(&mutex);
  }
}

static void first() {
  pthread_mutex_lock(&mutex);
  ++waiting;
  pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void second() {
  pthread_mutex_lock(&mutex);
  await_waiters(1);
  ++waiting;
  pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  copy = message;  // RACE(a)
}

static void notifier() {
  pthread_mutex_lock(&mutex);
  await_waiters(2);
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&condition);
  message = 1;  // RACE(a)
  pthread_cond_signal(&condition);
}

int main() {
  pthread_t threads[] = {start(first), start(second), start(notifier)};
  for (pthread_t thread : threads) {
    join(thread);
  }
}
