// OpenMP: two loops without a barrier, shared out alike: each thread has its own part.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 7
#include <omp.h>
#include <stdio.h>

int numbers[8], copies[8];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static, 4) nowait
    for (int i = 0; i < 8; ++i) numbers[i] = i;
#pragma omp for schedule(static, 4)
    for (int i = 0; i < 8; ++i) copies[i] = numbers[i];
  }
  printf("%d\n", copies[7]);
}
