// OpenMP: flushes make an order of an atomic flag that neither releases nor acquires.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value, flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      value = 1;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    } else {
      int seen = 0;
      while (seen == 0) {
#pragma omp atomic read
        seen = flag;
      }
#pragma omp flush
      copy = value;
    }
  }
  printf("%d\n", copy);
}
