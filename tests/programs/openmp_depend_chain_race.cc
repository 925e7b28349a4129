// OpenMP: a chain of three tasks that lacks a link.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value, copy, last;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : value)
    value = 1;  // RACE(a)
#pragma omp task depend(in : value) depend(out : copy)
    copy = 1;
#pragma omp task depend(in : last)
    last = value;  // RACE(a)
  }
  printf("%d\n", last >= 0);
}
