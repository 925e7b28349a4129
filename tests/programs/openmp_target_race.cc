// OpenMP: a loop of a target region that runs on the host.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// NEEDS: clang>=14
#include <omp.h>
#include <stdio.h>

int value[100], sum;

int main() {
#pragma omp target map(tofrom : value, sum)
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) {
    value[i] = i;
    sum += i;  // RACE(a)
  }
  printf("%d\n", sum > 0);
}
