// OpenMP: ... which waits for them.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[8], copy;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp taskloop num_tasks(8)
    for (int i = 0; i < 8; ++i) value[i] = 1;
    copy = value[3];
  }
  printf("%d\n", copy);
}
