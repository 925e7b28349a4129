// OpenMP: dependences from an iterator.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4
#include <omp.h>
#include <stdio.h>

int total, part[4];

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(out : part[i])
      part[i] = 1;
    }
#pragma omp task depend(iterator(int i = 0 : 4), in : part[i])
    total = part[0] + part[1] + part[2] + part[3];
  }
  printf("%d\n", total);
}
