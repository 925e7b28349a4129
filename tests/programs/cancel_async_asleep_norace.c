// A thread that may be cancelled anywhere, and is while it sleeps: it leaves a wait that does not return. As mktorrent's,
// which tells how far it has come. In C: see cancel_async_norace.c.
// OUTPUT: cancelled
// DEEP: some, a thread is cancelled between a hook and its access
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kRounds = 20 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int asleep;

static void* work(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  __atomic_store_n(&asleep, 1, __ATOMIC_SEQ_CST);
  for (;;) usleep(20000);
  return unused;
}

// Locks and sleeps, so that others wake it and time passes.
static void* other(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

int main(void) {
  int cancelled = 0;
  for (int round = 0; round < kRounds; ++round) {
    pthread_t thread, friend;
    __atomic_store_n(&asleep, 0, __ATOMIC_SEQ_CST);
    pthread_create(&thread, NULL, work, NULL);
    pthread_create(&friend, NULL, other, NULL);
    while (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST) == 0) usleep(100);
    usleep(100);
    pthread_cancel(thread);
    void* result = NULL;
    pthread_join(thread, &result);
    pthread_join(friend, NULL);
    cancelled += result == PTHREAD_CANCELED;
  }
  puts(cancelled == kRounds ? "cancelled" : "returned");
}
