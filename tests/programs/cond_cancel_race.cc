// The cleanup handler of a thread that was cancelled in a condition wait holds the mutex, but main does not take it.
// OUTPUT: cancelled
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int value;

static void clean_up(void*) {
  ++value;  // RACE(a)
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
  pthread_cancel(thread);
  ++value;  // RACE(a)
  void* result = nullptr;
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "cancelled" : "returned");
}
