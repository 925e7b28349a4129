// OpenMP: tasks of a loop are done when the barrier is, not before.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[2], copy;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 2; ++i) {
#pragma omp task
      value[i] = 1;  // RACE(a)
    }
    if (omp_get_thread_num() == 0) copy = value[0];  // RACE(a)
  }
  printf("%d\n", copy >= 0);
}
