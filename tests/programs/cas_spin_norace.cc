// Locks whose waiters do nothing but try a compare-exchange again, strong and weak, without yielding.
// OUTPUT: 300
#include <stdio.h>

#include "harness.h"

int lock_word;
int value;

static void take(bool weak) {
  for (int expected = 0;
       !__atomic_compare_exchange_n(&lock_word, &expected, 1, weak, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);) {
    expected = 0;
  }
}

template <bool weak>
static void* work(void*) {
  for (int i = 0; i < 100; ++i) {
    take(weak);
    ++value;
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
  }
  return nullptr;
}

int main() {
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, work<false>, nullptr);
  pthread_create(&threads[1], nullptr, work<true>, nullptr);
  pthread_create(&threads[2], nullptr, work<false>, nullptr);
  for (pthread_t thread : threads) {
    join(thread);
  }
  printf("%d\n", value);
}
