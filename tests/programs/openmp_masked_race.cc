// OpenMP: nobody waits for the thread that a masked block chooses.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=19
#include <omp.h>
#include <stdio.h>

int value, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp masked filter(1)
    value = 1;  // RACE(a)
    if (omp_get_thread_num() == 0) copy[0] = value;  // RACE(a)
  }
  printf("%d\n", copy[0] >= 0);
}
