// OpenMP: a flush orders nothing by itself.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value, flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      value = 1;  // RACE(a)
#pragma omp flush
    } else {
#pragma omp flush
      copy = value;  // RACE(a)
    }
  }
  printf("%d\n", copy >= 0);
}
