// OpenMP: ... and one that has all.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy, last;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : value)
    value = 1;
#pragma omp task depend(in : value) depend(out : copy)
    copy = value;
#pragma omp task depend(in : copy)
    last = value;
  }
  printf("%d\n", last);
}
