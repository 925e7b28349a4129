// OpenMP: ... but for the barrier behind it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    value = 1;
#pragma omp barrier
    copy[omp_get_thread_num()] = value;
  }
  printf("%d\n", copy[1]);
}
