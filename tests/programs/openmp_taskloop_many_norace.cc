// OpenMP: ... each with an element of its own.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[200], total;

int main() {
  int number = 1;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    number = 2;
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 200; ++i) value[i] = number;
    for (int i = 0; i < 200; ++i) total += value[i];
  }
  printf("%d\n", total == 400);
}
