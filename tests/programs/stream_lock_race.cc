// What libc's lock of a stream protects is also used without it.
#include <stdio.h>

#include "harness.h"

FILE* stream;
volatile long written, copy;

static ssize_t count(void*, const char*, size_t size) {
  written = written + static_cast<long>(size);  // RACE(a)
  return static_cast<ssize_t>(size);
}

static void puts_text() {
  fputs("abc", stream);
  reach(1);
}

static void looks() {
  await(1);
  copy = written;  // RACE(a)
}

int main() {
  cookie_io_functions_t functions = {};
  functions.write = count;
  stream = fopencookie(nullptr, "w", functions);
  setvbuf(stream, nullptr, _IONBF, 0);
  run_threads(puts_text, looks);
  fclose(stream);
}
