// Two threads write a mapped page.
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
  page[100] = 1;  // RACE(a)
}

static void second() {
  char* page;
  while ((page = __atomic_load_n(&address, __ATOMIC_ACQUIRE)) == nullptr) {
    sched_yield();
  }
  page[100] = 2;  // RACE(a)
}

int main() {
  run_threads(first, second);
}
