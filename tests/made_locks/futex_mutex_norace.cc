// A mutex of a futex: free, taken, and taken with somebody waiting. Both threads write inside.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "locks.h"

int word;
static void take() {
  int free = 0;
  if (__atomic_compare_exchange_n(&word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return;
  }
  while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0) {
    syscall(SYS_futex, &word, FUTEX_WAIT, 2, nullptr, nullptr, 0);
  }
}
static void give() {
  if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2) {
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}
int shared, a, b;

static void* first(void*) {
  a = 1;
  take();
  shared = 1;
  give();
  return nullptr;
}

static void* second(void*) {
  take();
  shared = 2;
  give();
  b = 1;
  return nullptr;
}

int main() { run_threads(first, second); }
