// flockfile() is a lock, and libc takes it around what a program gives to fopencookie().
// TSAN: skip, it does not know these locks
// OUTPUT: 8 16 4
#include <stdio.h>

#include "harness.h"

FILE* stream;
volatile int calls, tries;
volatile long written;

static ssize_t count(void*, const char*, size_t size) {
  written = written + static_cast<long>(size);
  return static_cast<ssize_t>(size);
}

static void uses() {
  for (int i = 0; i < 2; ++i) {
    flockfile(stream);
    flockfile(stream);
    calls = calls + 1;
    fputs("abc", stream);
    funlockfile(stream);
    calls = calls + 1;
    funlockfile(stream);
    fputc('d', stream);
    while (ftrylockfile(stream) != 0) {
    }
    tries = tries + 1;
    funlockfile(stream);
  }
}

int main() {
  cookie_io_functions_t functions = {};
  functions.write = count;
  stream = fopencookie(nullptr, "w", functions);
  setvbuf(stream, nullptr, _IONBF, 0);
  run_threads(uses, uses);
  fclose(stream);
  printf("%d %ld %d\n", calls, written, tries);
}
