// A program that closes all descriptors, those that it has not opened as well, and then starts to work.
// STATUS: 5
#include <unistd.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;

static void work() {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    ++value;
    pthread_mutex_unlock(&mutex);
  }
}

int main() {
  for (int fd = 0; fd < 4096; ++fd)
    close(fd);
  run_threads(work, work);
  return value == 200 ? 5 : 1;
}
