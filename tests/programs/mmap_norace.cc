// A page is unmapped and the same address mapped again: it is not the same variable.
#include <sys/mman.h>

#include "harness.h"

constexpr unsigned long kSize = 65536;
char* address;

static char* map(char* where) {
  return static_cast<char*>(mmap(where, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void first() {
  char* page = map(nullptr);
  __atomic_store_n(&address, page, __ATOMIC_RELEASE);
  page[100] = 1;
  munmap(page, kSize);
  reach(1);
}

static void second() {
  char* page;
  while ((page = __atomic_load_n(&address, __ATOMIC_ACQUIRE)) == nullptr) {
    sched_yield();
  }
  await(1);
  page = map(page);
  page[100] = 2;
}

int main() {
  run_threads(first, second);
}
