// OpenMP: a flag that is released and acquired hands data over.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 7
#include <omp.h>
#include <stdio.h>

int data, flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      data = 7;
#pragma omp atomic write release
      flag = 1;
    } else {
      int seen = 0;
      while (seen == 0) {
#pragma omp atomic read acquire
        seen = flag;
      }
      copy = data;
    }
  }
  printf("%d\n", copy);
}
