// OpenMP: regions inside of a region, each with its own.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4
#include <omp.h>
#include <stdio.h>

int parts[2][2], total;

int main() {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
    parts[outer][omp_get_thread_num()] = 1;
    parts[outer][0] += parts[outer][1];
  }
  total = parts[0][0] + parts[1][0];
  printf("%d\n", total);
}
