// A place that runs a hundred thousand times, on memory of its own only.
#include "harness.h"

constexpr int kBytes = 100'000;
char first_bytes[kBytes], second_bytes[kBytes];

__attribute__((noinline)) static void put(char* to, int byte) {
  *to = static_cast<char>(byte);
}

static void first() {
  for (int i = 0; i < kBytes; ++i) put(&first_bytes[i], i);
}

static void second() {
  for (int i = 0; i < kBytes; ++i) put(&second_bytes[i], i);
}

int main() {
  run_threads(first, second);
}
