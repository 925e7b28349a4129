// The plugin of dlopen_norace.cc: the same write, under a lock.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int calls;
int* counter = &calls;

extern "C" void work(int number) {
  pthread_mutex_lock(&mutex);
  *counter = number;
  pthread_mutex_unlock(&mutex);
}
