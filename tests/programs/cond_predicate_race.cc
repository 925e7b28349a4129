// The predicate is looked at outside the mutex, as if the notification had synchronised.
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int flag, rounds;

static void waiter() {
  while (flag == 0) {  // RACE(a)
    pthread_mutex_lock(&mutex);
    timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec = (time.tv_nsec + 1000000) % 1000000000;
    pthread_cond_timedwait(&condition, &mutex, &time);  // or the notification would be lost now and then
    ++rounds;
    pthread_mutex_unlock(&mutex);
  }
}

static void notifier() {
  flag = 1;  // RACE(a)
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
}

int main() { run_threads(waiter, notifier); }
