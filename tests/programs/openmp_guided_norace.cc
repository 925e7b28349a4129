// OpenMP: iterations of a guided loop have an element each.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[400];

int main() {
#pragma omp parallel for num_threads(2) schedule(guided, 1)
  for (int i = 0; i < 400; ++i) {
    value[i] = value[i] + 1;
  }
  printf("%d\n", value[399] > 0);
}
