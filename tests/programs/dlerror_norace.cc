// What dlerror() says is still there when functions are called for the first time afterwards.
// OUTPUT: /no/such/library.so: cannot open shared object file: No such file or directory
// OUTPUT: told once
// FLAGS: -ldl
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

int main() {
  if (dlopen("/no/such/library.so", RTLD_NOW) != nullptr) {
    return 1;
  }
  const char* message = dlerror();
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  char copy[200];
  strncpy(copy, message, sizeof copy - 1);
  puts(message);
  fflush(stdout);
  dlopen("/no/such/library.so", RTLD_NOW);
  usleep(1);  // between the failure and the question
  message = dlerror();
  puts(message != nullptr && strncmp(message, copy, sizeof copy - 1) == 0 && dlerror() == nullptr ? "told once"
                                                                                                  : "lost");
}
