// OpenMP: a loop in a function that a region calls writes one variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int value[100], last;

// The loop finds its region by itself.
__attribute__((noinline)) static void fill() {
#pragma omp for schedule(static)
  for (int i = 0; i < 100; ++i) {
    value[i] = i;
    last = i;  // RACE(a)
  }
}

int main() {
#pragma omp parallel num_threads(2)
  fill();
  printf("%d\n", value[99]);
}
