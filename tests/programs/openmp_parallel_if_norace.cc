// OpenMP: a region that has one thread only.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value;

int main(int argc, char**) {
#pragma omp parallel num_threads(2) if (argc > 1)
  value += 1;
  printf("%d\n", value > 0);
}
