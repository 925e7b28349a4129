// The destructor of a pthread key runs while the parent goes on.
// OUTPUT: 5
#include <stdio.h>

#include "harness.h"

pthread_key_t key;
int value, data = 5, sum;

static void destroy(void* pointer) {
  sum = *static_cast<int*>(pointer);
  value = 1;  // RACE(a)
  reach(1);
}

static void child() {
  pthread_setspecific(key, &data);
}

int main() {
  pthread_key_create(&key, destroy);
  pthread_t thread = start(child);
  await(1);
  value = 2;  // RACE(a)
  join(thread);
  printf("%d\n", sum);
}
