// Reads, writes and atomic operations that fault; the handler jumps out of each. Two threads do it one after the other.
// OUTPUT: 8 faults
// TSAN: skip, it hangs when a handler leaves an atomic operation
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

thread_local sigjmp_buf before;
int faults;
thread_local char* volatile nowhere;
volatile int sink;

static void handle(int) { siglongjmp(before, 1); }

static void fault(int how) {
  switch (how) {
    case 0: *reinterpret_cast<volatile int*>(nowhere) = 1; break;
    case 1: sink = *reinterpret_cast<volatile int*>(nowhere); break;
    case 2: __atomic_fetch_add(reinterpret_cast<int*>(nowhere), 1, __ATOMIC_SEQ_CST); break;
    default: sink = static_cast<int>(strlen(nowhere)); break;
  }
}

static void work(unsigned long address) {
  nowhere = reinterpret_cast<char*>(address);
  for (volatile int how = 0; how < 4; how = how + 1) {
    if (sigsetjmp(before, 1) == 0) fault(how);
    else ++faults;
  }
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGSEGV, &action, nullptr);
  pthread_t first = start([] { work(64); });
  join(first);
  join(start([] { work(64); }));
  printf("%d faults\n", faults);
}
