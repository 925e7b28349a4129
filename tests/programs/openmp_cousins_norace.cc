// OpenMP: dependences of two parents that wait for their tasks.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(inout : copy)
    {
#pragma omp task depend(out : value)
      value = 1;
#pragma omp taskwait
    }
#pragma omp task depend(inout : copy)
    {
#pragma omp task depend(in : value)
      copy = value;
#pragma omp taskwait
    }
  }
  printf("%d\n", copy);
}
