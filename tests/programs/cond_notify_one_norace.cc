// pthread_cond_signal does not synchronise, but the mutex does, under which the message is written.
#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int waiting, message, copy;

static void waiter() {
  pthread_mutex_lock(&mutex);
  waiting = 1;
  pthread_cond_wait(&condition, &mutex);
  copy = message;
  pthread_mutex_unlock(&mutex);
}

static void notifier() {
  pthread_mutex_lock(&mutex);
  while (waiting == 0) {
    pthread_mutex_unlock(&mutex);
    sched_yield();
    pthread_mutex_lock(&mutex);
  }
  message = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&condition);
}

int main() { run_threads(waiter, notifier); }
