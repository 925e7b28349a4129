// OpenMP: ... behind the barrier.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[2], copy;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 2; ++i) {
#pragma omp task
      value[i] = 1;
    }
    if (omp_get_thread_num() == 0) copy = value[0] + value[1];
  }
  printf("%d\n", copy == 2);
}
