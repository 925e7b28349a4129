// OpenMP: tasks that take part in a reduction.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 16
#include <omp.h>
#include <stdio.h>

int sum;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    {
      for (int i = 0; i < 8; ++i) {
#pragma omp task in_reduction(+ : sum)
        {
          sum += 2;
        }
      }
    }
  }
  printf("%d\n", sum);
}
