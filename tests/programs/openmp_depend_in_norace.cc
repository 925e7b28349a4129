// OpenMP: a task that says it writes waits for those that read.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 2
#include <omp.h>
#include <stdio.h>

int total, key;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : key)
    key = 1;
#pragma omp task depend(in : key) shared(total)
    total = key;
#pragma omp task depend(inout : key)
    key += total;
#pragma omp taskwait
    total = key;
  }
  printf("%d\n", total);
}
