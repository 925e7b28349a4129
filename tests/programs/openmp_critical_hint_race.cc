// OpenMP: critical sections of two names.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int value;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(first) hint(omp_sync_hint_contended)
      ++value;  // RACE(a)
    } else {
#pragma omp critical(second) hint(omp_sync_hint_contended)
      ++value;  // RACE(a)
    }
  }
  printf("%d\n", value > 0);
}
