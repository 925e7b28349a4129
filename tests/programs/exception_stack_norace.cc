// An exception leaves three functions, many times, in two threads.
#include "harness.h"

int value;

__attribute__((noinline)) static void thrower(int depth) {
  if (depth == 0) {
    throw 1;
  }
  thrower(depth - 1);
  asm volatile("");
}

__attribute__((noinline)) static void write_value(int number) {
  asm volatile("" : : "r"(number));
}

__attribute__((noinline)) static void catches(int number) {
  for (int i = 0; i < 3; ++i) {
    try {
      thrower(2);
    } catch (int) {
    }
  }
  write_value(number);
  asm volatile("");
}

static void first() {
  catches(1);
  asm volatile("");
}

static void second() {
  catches(2);
  asm volatile("");
}

int main() {
  run_threads(first, second);
}
