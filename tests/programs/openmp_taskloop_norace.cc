// OpenMP: a taskloop: what is in front of it, its tasks, what is behind it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 820
#include <omp.h>
#include <stdio.h>

int total, numbers[40], start;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    start = 1;
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 40; ++i) numbers[i] = i + start;
    for (int i = 0; i < 40; ++i) total += numbers[i];
  }
  printf("%d\n", total);
}
