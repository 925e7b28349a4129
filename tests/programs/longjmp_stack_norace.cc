// longjmp leaves three functions, many times, in two threads.
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
  asm volatile("" : : "r"(number));
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
