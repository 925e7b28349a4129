// A page is protected after it was written and before it is read or written again; the handler opens it. One thread.
// OUTPUT: 3 faults, 9
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "harness.h"

constexpr int kPage = 4096;
volatile char* page;
volatile int faults;

static void protect(int protection) { mprotect(const_cast<char*>(page), kPage, protection); }

static void handle(int) {
  faults = faults + 1;
  protect(PROT_READ | PROT_WRITE);
}

int main() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGSEGV, &action, nullptr);
  page = static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  pthread_t thread = start([] { page[100] = 1; });
  join(thread);
  page[0] = 1;
  protect(PROT_NONE);
  page[1] = 7;
  protect(PROT_READ);
  page[1] = 9;
  protect(PROT_NONE);
  int seen = page[1];
  page[100] = 2;
  printf("%d faults, %d\n", faults, seen);
}
