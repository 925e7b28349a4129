// OpenMP: a variable of the function that should be private.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int value[100];

int main() {
  int temporary = 0;
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) {
    temporary = i;  // RACE(a)
  }
  printf("%d\n", temporary >= 0);
}
