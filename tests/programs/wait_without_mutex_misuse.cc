// A thread waits for a condition without the mutex that the wait gives back.
// TSAN: skip, it has no such report
#include <errno.h>
#include <time.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
Apart result;

int main() {
  timespec past = {1, 0};
  result.value = pthread_cond_timedwait(&cond, &mutex, &past);  // MISUSE(unlock)
}
