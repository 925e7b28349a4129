// OpenMP: the largest is looked at outside of the critical section that changes it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int value[100], largest;

int main() {
  for (int i = 0; i < 100; ++i) value[i] = i * 7 % 100;
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) {
    if (value[i] > largest)  // RACE(a)
#pragma omp critical
      if (value[i] > largest) largest = value[i];  // RACE(a)
  }
  printf("%d\n", largest);
}
