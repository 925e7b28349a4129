// OpenMP: a schedule that is chosen while the program runs, and a sum by reduction.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 4950
#include <omp.h>
#include <stdio.h>

int sum, value[100];

int main() {
  omp_set_schedule(omp_sched_static, 5);
#pragma omp parallel for num_threads(2) schedule(runtime) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) {
    value[i] = i;
    sum += value[i];
  }
  printf("%d\n", sum);
}
