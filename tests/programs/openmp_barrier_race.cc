// OpenMP: threads read their neighbour's value without a barrier.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[2], copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    if (me == 0) value[0] = 1;  // RACE(a)
    if (me == 1) copy[1] = value[0];  // RACE(a)
  }
  printf("%d\n", copy[1] >= 0);
}
