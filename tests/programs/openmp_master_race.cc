// OpenMP: nobody waits for the master.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    value = 1;  // RACE(a)
    if (omp_get_thread_num() == 1) copy[1] = value;  // RACE(a)
  }
  printf("%d\n", copy[1] >= 0);
}
