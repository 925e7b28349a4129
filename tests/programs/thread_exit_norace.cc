// pthread_exit ends a thread from deep inside; join orders what it did and hands over its result.
// OUTPUT: 7
#include <stdio.h>

#include "harness.h"

int value;
int result = 7;

static void leave() {
  value = 1;
  pthread_exit(&result);
}

int main() {
  pthread_t thread = start(leave);
  void* returned = nullptr;
  pthread_join(thread, &returned);
  value = 2;
  printf("%d\n", *static_cast<int*>(returned));
}
