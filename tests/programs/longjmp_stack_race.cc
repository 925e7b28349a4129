// longjmp leaves three functions; the stack of the race after it is right.
// STACK(a): write_value jumps first
#include <setjmp.h>

#include "harness.h"

int value;

__attribute__((noinline)) static void jumper(jmp_buf& target, int depth) {
  if (depth == 0) {
    longjmp(target, 1);
  }
  jumper(target, depth - 1);
  asm volatile("");
}

__attribute__((noinline)) static void write_value(int number) {
  value = number;  // RACE(a)
}

__attribute__((noinline)) static void jumps(int number) {
  jmp_buf target;
  if (setjmp(target) == 0) {
    jumper(target, 2);
  }
  write_value(number);
  asm volatile("");
}

static void first() {
  jumps(1);
  asm volatile("");
}

static void second() {
  jumps(2);
  asm volatile("");
}

int main() {
  run_threads(first, second);
}
