// Woken by a futex, but the word was written without release.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"

int word, data;

static void waker() {
  data = 1;  // RACE(a)
  __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

static void sleeper() {
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  data = 2;  // RACE(a)
}

int main() { run_threads(waker, sleeper); }
