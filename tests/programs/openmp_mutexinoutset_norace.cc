// OpenMP: members of a mutexinoutset add to one sum, in any order.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 3
#include <omp.h>
#include <stdio.h>

int total, key, sum;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(mutexinoutset : key)
    sum += 1;
#pragma omp task depend(mutexinoutset : key)
    sum += 2;
#pragma omp task depend(in : key)
    total = sum;
  }
  printf("%d\n", total);
}
