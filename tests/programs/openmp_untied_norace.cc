// OpenMP: ... for each other.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task untied depend(out : total)
    {
#pragma omp taskyield
      total = 1;
    }
#pragma omp task untied depend(inout : total)
    {
#pragma omp taskyield
      total += 1;
    }
  }
  printf("%d\n", total - 1);
}
