// OpenMP: what a region wrote, another one reads.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[2], copy[2];

int main() {
#pragma omp parallel num_threads(2)
  value[omp_get_thread_num()] = 1;
#pragma omp parallel num_threads(2)
  copy[omp_get_thread_num()] = value[1 - omp_get_thread_num()];
  printf("%d\n", copy[0] & copy[1]);
}
