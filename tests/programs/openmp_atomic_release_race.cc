// OpenMP: a relaxed flag hands nothing over.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int data, flag, copy;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      data = 7;  // RACE(a)
#pragma omp atomic write relaxed
      flag = 1;
    } else {
      int seen = 0;
      while (seen == 0) {
#pragma omp atomic read relaxed
        seen = flag;
      }
      copy = data;  // RACE(a)
    }
  }
  printf("%d\n", copy >= 0);
}
