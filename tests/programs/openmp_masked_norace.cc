// OpenMP: a barrier behind a masked block.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=19
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp masked filter(1)
    value = 1;
#pragma omp barrier
    if (omp_get_thread_num() == 0) copy[0] = value;
  }
  printf("%d\n", copy[0]);
}
