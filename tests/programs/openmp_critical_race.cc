// OpenMP: critical sections of different names.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
      total = 1;  // RACE(a)
    } else {
#pragma omp critical(other)
      copy = total;  // RACE(a)
    }
  }
  printf("%d\n", copy >= 0);
}
