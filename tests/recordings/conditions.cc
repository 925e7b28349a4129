// One thread waits until another has something for it. No race.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void* give(void*) {
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

static void* take(void*) {
  pthread_mutex_lock(&mutex);
  while (ready == 0) {
    pthread_cond_wait(&condition, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, take, nullptr);
  pthread_create(&threads[1], nullptr, give, nullptr);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
}
