// OpenMP: all are atomic.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 2
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp atomic
      total += 1;
    } else {
#pragma omp atomic
      total += 1;
    }
  }
  printf("%d\n", total);
}
