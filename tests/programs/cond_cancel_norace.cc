// A thread that is cancelled in a condition wait holds the mutex again when its cleanup handler runs.
// OUTPUT: cancelled, 2
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int value;

static void clean_up(void*) {
  ++value;
  pthread_mutex_unlock(&mutex);
}

static void* wait_for_ever(void*) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean_up, nullptr);
  while (true) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(0);
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, wait_for_ever, nullptr);
  usleep(1000);
  pthread_mutex_lock(&mutex);
  ++value;
  pthread_mutex_unlock(&mutex);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  printf("%s, %d\n", result == PTHREAD_CANCELED ? "cancelled" : "returned", value);
}
