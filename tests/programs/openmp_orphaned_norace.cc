// OpenMP: a loop in a function that a region calls.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 99
#include <omp.h>
#include <stdio.h>

int value[100];

// The loop finds its region by itself.
__attribute__((noinline)) static void fill() {
#pragma omp for schedule(static)
  for (int i = 0; i < 100; ++i) {
    value[i] = i;
  }
}

int main() {
#pragma omp parallel num_threads(2)
  fill();
  printf("%d\n", value[99]);
}
