// OpenMP: critical sections of one name with a hint.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(first) hint(omp_sync_hint_contended)
      ++value;
    } else {
#pragma omp critical(first) hint(omp_sync_hint_contended)
      ++value;
    }
  }
  printf("%d\n", value > 0);
}
