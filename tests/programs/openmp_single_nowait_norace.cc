// OpenMP: all wait at the end of a single; copyprivate hands a value on.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4
#include <omp.h>
#include <stdio.h>

int total, table;

int main() {
#pragma omp parallel num_threads(2)
  {
    int copy;
#pragma omp single
    table = 1;
#pragma omp single copyprivate(copy)
    copy = table;
#pragma omp atomic
    total += copy + table;
  }
  printf("%d\n", total);
}
