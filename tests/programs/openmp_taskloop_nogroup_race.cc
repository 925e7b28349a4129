// OpenMP: nobody waits for a taskloop with nogroup.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, numbers[40];

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop num_tasks(4) nogroup
    for (int i = 0; i < 40; ++i) numbers[i] = i;  // RACE(a)
    total = numbers[39];  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
