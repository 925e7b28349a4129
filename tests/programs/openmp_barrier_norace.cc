// OpenMP: ... and with one.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[2], copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    value[me] = 1;
#pragma omp barrier
    copy[me] = value[1 - me];
  }
  printf("%d\n", copy[1] & copy[0]);
}
