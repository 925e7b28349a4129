// Each thread has its own thread_local variable, also when a later thread gets the memory of an earlier one.
#include "harness.h"

thread_local int own;
int* address;

static void owner() {
  own = 1;
  reach_one_more();
}

int main() {
  for (int i = 1; i <= 50; ++i) {
    pthread_detach(start(owner));
    await(i);
  }
}
