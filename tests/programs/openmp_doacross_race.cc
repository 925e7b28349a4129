// OpenMP: iterations wait for the last but one, and read what the last one wrote.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int numbers[40];

int main() {
#pragma omp parallel for ordered(1) num_threads(2) schedule(static, 1)
  for (int i = 2; i < 40; ++i) {
#pragma omp ordered depend(sink : i - 2)
    numbers[i] = numbers[i - 1] + 1;  // RACE(a)
#pragma omp ordered depend(source)
  }
  printf("%d\n", numbers[39] > 0);
}
