// OpenMP: a taskloop with a reduction, of unsigned long long.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 40
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop num_tasks(4) reduction(+ : total)
    for (unsigned long long i = 0; i < 40; ++i) total += 1;
  }
  printf("%d\n", total);
}
