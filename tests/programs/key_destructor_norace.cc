// The destructor of a pthread key has run when its thread is joined.
// OUTPUT: 5
#include <stdio.h>

#include "harness.h"

pthread_key_t key;
int value, data = 5, sum;

static void destroy(void* pointer) {
  sum = *static_cast<int*>(pointer);
  value = 1;
}

static void child() {
  pthread_setspecific(key, &data);
}

int main() {
  pthread_key_create(&key, destroy);
  pthread_t thread = start(child);
  join(thread);
  value = 2;
  printf("%d\n", sum);
}
