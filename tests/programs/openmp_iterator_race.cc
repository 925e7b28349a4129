// OpenMP: dependences from an iterator do not cover the last element.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, part[4];

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(out : part[i])
      part[i] = 1;  // RACE(a)
    }
#pragma omp task depend(iterator(int i = 0 : 3), in : part[i])
    total = part[0] + part[1] + part[2] + part[3];  // RACE(a)
  }
  printf("%d\n", total >= 0);
}
