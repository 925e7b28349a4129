// A mutex that was never locked is unlocked; it checks for errors and refuses.
// OUTPUT: refused
#include <errno.h>
#include <stdio.h>

#include "harness.h"

pthread_mutex_t mutex;

int main() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  if (pthread_mutex_unlock(&mutex) == EPERM) {  // MISUSE(unlock)
    puts("refused");
  }
}
