// 64 threads at once, each with a slot of its own.
// OUTPUT: 2080
#include <stdio.h>

#include "harness.h"

constexpr int kThreads = 64;
int slots[kThreads];

static void* work(void* argument) {
  int* slot = static_cast<int*>(argument);
  reach_one_more();
  await(kThreads);
  *slot = static_cast<int>(slot - slots) + 1;
  return nullptr;
}

int main() {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    pthread_create(&threads[i], nullptr, work, &slots[i]);
  }
  for (pthread_t thread : threads) {
    pthread_join(thread, nullptr);
  }
  int sum = 0;
  for (int slot : slots) {
    sum += slot;
  }
  printf("%d\n", sum);
}
