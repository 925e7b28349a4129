// OpenMP: threads of a region, and what a thread wrote in it beside others.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[2], copy[2];

int main() {
#pragma omp parallel num_threads(2)
  value[omp_get_thread_num()] = 1;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) value[1] = 2;  // RACE(a)
    if (omp_get_thread_num() == 1) copy[1] = value[1];  // RACE(a)
  }
  printf("%d\n", copy[1] > 0);
}
