// OpenMP: what one thread reads for all, and nobody waits before it is changed.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value = 1, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    int mine;
#pragma omp single copyprivate(mine)
    mine = 1;
    if (omp_get_thread_num() == 0) value = mine + 1;  // RACE(a)
    if (omp_get_thread_num() == 1) copy[1] = value;  // RACE(a)
  }
  printf("%d\n", copy[1] >= 0);
}
