// OpenMP: tasks of a taskloop add to one variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, numbers[40];

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop num_tasks(4) shared(total)
    for (int i = 0; i < 40; ++i) {
      numbers[i] = i;
      *(volatile int*)&total = i;  // RACE(a)
    }
  }
  printf("%d\n", total >= 0);
}
