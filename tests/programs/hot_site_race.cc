// The place of the race is hot: it runs a hundred thousand times on memory of its own before it meets the other.
#include "harness.h"

constexpr int kBytes = 100'000;
char first_bytes[kBytes], second_bytes[kBytes];
Apart padding;
char shared_byte;

__attribute__((noinline)) static void put(char* to, int byte) {
  *to = static_cast<char>(byte);  // RACE(a)
}

static void first() {
  for (int i = 0; i < kBytes; ++i) put(&first_bytes[i], i);
  put(&shared_byte, 1);
}

static void second() {
  for (int i = 0; i < kBytes; ++i) put(&second_bytes[i], i);
  put(&shared_byte, 2);
}

int main() {
  run_threads(first, second);
}
