// OpenMP: iterations append in their order, and write behind that.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// NEEDS: gcc
// LEVELS: 1
#include <omp.h>
#include <stdio.h>

int entry[20], length, other;

int main() {
#pragma omp parallel for ordered num_threads(2) schedule(static, 1)
  for (int i = 0; i < 20; ++i) {
#pragma omp ordered
    entry[length++] = i;  // RACE(b)
    other = length;  // RACE(a) RACE(b)
  }
  printf("%d %d\n", length, entry[19]);
}
