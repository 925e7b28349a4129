// OpenMP: one thread writes by an atomic, the other reads by one.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp atomic write
      flag = 1;
    } else {
#pragma omp atomic read
      copy = flag;
    }
  }
  printf("%d\n", copy >= 0);
}
