// Locks are initialised again when nobody uses them any more, in new memory, and where an earlier local one was.
#include <stdlib.h>
#include <sys/mman.h>

#include "harness.h"

pthread_mutex_t mutex;
int value;

void use() {
  pthread_mutex_lock(&mutex);
  ++value;
  pthread_mutex_unlock(&mutex);
  auto* own = static_cast<pthread_mutex_t*>(malloc(sizeof(pthread_mutex_t)));
  pthread_mutex_init(own, nullptr);
  pthread_mutex_lock(own);
  pthread_mutex_unlock(own);
  free(own);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  own = static_cast<pthread_mutex_t*>(page);
  pthread_mutex_init(own, nullptr);
  pthread_mutex_lock(own);
  pthread_mutex_unlock(own);
  munmap(page, 4096);
}

void use_local() {
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_t local;
    pthread_mutex_init(&local, nullptr);
    pthread_mutex_lock(&local);
    pthread_mutex_unlock(&local);
  }
}

int main() {
  pthread_mutex_init(&mutex, nullptr);
  run_threads(use, use);
  pthread_mutex_init(&mutex, nullptr);
  run_threads(use_local, use_local);
  run_threads(use, use_local);
}
