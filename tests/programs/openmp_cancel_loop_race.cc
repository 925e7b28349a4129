// OpenMP: each thread that finds something writes it and cancels the loop.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int found, tried[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 100; ++i) {
      if (i % 50 == 10) {
        found = i;  // RACE(a)
#pragma omp cancel for
      }
#pragma omp cancellation point for
      ++tried[omp_get_thread_num()];
    }
  }
  printf("%d\n", found % 50);
}
