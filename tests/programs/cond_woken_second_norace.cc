// Two wait for a condition variable, and read under the mutex what was written under it.
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
  copy = message;
  pthread_mutex_unlock(&mutex);
}

static void notifier() {
  pthread_mutex_lock(&mutex);
  await_waiters(2);
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&condition);
  pthread_mutex_lock(&mutex);
  message = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&condition);
}

int main() {
  pthread_t threads[] = {start(first), start(second), start(notifier)};
  for (pthread_t thread : threads) {
    join(thread);
  }
}
