// Threads are cancelled before they block: in a condition wait, a semaphore, a join; and in a loop that only tests for it.
// OUTPUT: 4 cancelled
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
sem_t nothing;
pthread_t main_thread;
int cleaned;

static void clean_up(void*) { ++cleaned; }

static void block(long how) {
  switch (how) {
    case 0:
      pthread_mutex_lock(&mutex);
      while (true) pthread_cond_wait(&never, &mutex);
    case 1:
      while (true) sem_wait(&nothing);
    case 2:
      pthread_join(main_thread, nullptr);
      break;
    default:
      while (true) pthread_testcancel();
  }
}

static void* work(void* how) {
  pthread_cleanup_push(clean_up, nullptr);
  reach(1);
  await(2);
  block(reinterpret_cast<long>(how));
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  main_thread = pthread_self();
  sem_init(&nothing, 0, 0);
  int cancelled = 0;
  for (long how = 0; how < 4; ++how) {
    reach(0);
    pthread_t thread;
    pthread_create(&thread, nullptr, work, reinterpret_cast<void*>(how));
    await(1);
    if (how == 3) reach(2);
    pthread_cancel(thread);
    reach(2);
    void* result = nullptr;
    pthread_join(thread, &result);
    if (result == PTHREAD_CANCELED) ++cancelled;
  }
  if (cleaned != 4) return 1;
  printf("%d cancelled\n", cancelled);
}
