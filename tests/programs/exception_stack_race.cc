// An exception leaves three functions; the stack of the race after it is right.
// STACK(a): write_value catches first
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
  value = number;  // RACE(a)
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
