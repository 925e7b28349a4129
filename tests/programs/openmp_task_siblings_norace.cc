// OpenMP: ... one after the other, as their dependences say.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 2
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : total)
    total = 1;
#pragma omp task depend(out : total)
    total = 2;
  }
  printf("%d\n", total);
}
