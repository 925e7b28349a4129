// OpenMP: tasks add to a reduction of the region.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 45
#include <omp.h>
#include <stdio.h>

int main() {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : sum)
    sum += i;
  }
  printf("%d\n", sum);
}
