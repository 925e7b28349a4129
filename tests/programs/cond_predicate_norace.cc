// The predicate is looked at under the mutex, also behind the wait.
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int flag, rounds;

static void waiter() {
  pthread_mutex_lock(&mutex);
  while (flag == 0) {
    timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec = (time.tv_nsec + 1000000) % 1000000000;
    pthread_cond_timedwait(&condition, &mutex, &time);
    ++rounds;
  }
  pthread_mutex_unlock(&mutex);
}

static void notifier() {
  pthread_mutex_lock(&mutex);
  flag = 1;
  pthread_mutex_unlock(&mutex);
  pthread_cond_broadcast(&condition);
}

int main() { run_threads(waiter, notifier); }
