// OpenMP: the value of the last iteration, before all have come by.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int last, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 10; ++i)
      if (i == 9) last = i;  // RACE(a)
    if (omp_get_thread_num() == 0) copy[0] = last;  // RACE(a)
  }
  printf("%d\n", copy[0] >= 0);
}
