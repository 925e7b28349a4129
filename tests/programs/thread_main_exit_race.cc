// The main thread ends with pthread_exit while another still runs: what that one does races with what main did.
// TSAN: skip, it does not end
// OUTPUT: 3
#include <stdio.h>

#include "harness.h"

int value = 1;

static void child() {
  await(1);
  value += 1;  // RACE(a)
  printf("3\n");
}

int main() {
  start(child);
  value = 2;  // RACE(a)
  reach(1);
  pthread_exit(nullptr);
}
