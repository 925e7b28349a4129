// OpenMP: tasks of a taskloop with nogroup, and their maker.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[8], copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp taskloop nogroup num_tasks(8)
    for (int i = 0; i < 8; ++i) value[i] = 1;  // RACE(a)
    copy = value[3];  // RACE(a)
  }
  printf("%d\n", copy >= 0);
}
