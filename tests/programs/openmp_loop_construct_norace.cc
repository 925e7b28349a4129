// OpenMP: the iterations of a loop construct add up in a reduction.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=19
// OUTPUT: 100
#include <omp.h>
#include <stdio.h>

int value[100], sum;

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp loop bind(parallel) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) {
      value[i] = 1;
      sum += value[i];
    }
  }
  printf("%d\n", sum);
}
