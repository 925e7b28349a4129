// Detached threads one after the other get the same stack: their locals are not the same variables.
// TSAN: some, it remembers few accesses to a word
#include "harness.h"

int* shared;
int total;

__attribute__((noinline)) static void fill(volatile int* numbers) {
  for (int i = 0; i < 100; ++i) {
    numbers[i] = i;
  }
}

static void worker() {
  int numbers[100];
  fill(numbers);
  reach_one_more();
}

int main() {
  for (int i = 1; i <= 50; ++i) {
    pthread_detach(start(worker));
    await(i);
  }
}
