// OpenMP: two loops without a barrier between them, shared out differently.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int numbers[8], copies[8];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static, 4) nowait
    for (int i = 0; i < 8; ++i) numbers[i] = i;  // RACE(a)
#pragma omp for schedule(static, 4)
    for (int i = 0; i < 8; ++i) copies[i] = numbers[7 - i];  // RACE(a)
  }
  printf("%d\n", copies[0] >= 0);
}
