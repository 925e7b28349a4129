// OpenMP: regions inside of two threads of a region.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total;

int main() {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      *(volatile int*)&total = 1;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
