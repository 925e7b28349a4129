// OpenMP: ... and is.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value[100];

int main() {
  int temporary;
#pragma omp parallel for num_threads(2) schedule(static) private(temporary)
  for (int i = 0; i < 100; ++i) {
    temporary = i;
    value[i] = temporary + 1;
  }
  printf("%d\n", value[0]);
}
