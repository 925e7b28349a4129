// OpenMP: a taskloop of more tasks than the maker makes alone.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[200], total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 200; ++i)
      if (i == 3 || i == 190) total = i;  // RACE(a)
  }
  printf("%d\n", total > 0);
}
