// pthread_exit ends a thread from deep inside; the parent does not wait for it.
// OUTPUT: 7
#include <stdio.h>

#include "harness.h"

int value;
int result = 7;

static void leave() {
  value = 1;  // RACE(a)
  reach(1);
  pthread_exit(&result);
}

int main() {
  pthread_t thread = start(leave);
  await(1);
  value = 2;  // RACE(a)
  void* returned = nullptr;
  pthread_join(thread, &returned);
  printf("%d\n", *static_cast<int*>(returned));
}
