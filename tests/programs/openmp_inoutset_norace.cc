// OpenMP: whoever reads comes behind all members of an inoutset.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=13
// NEEDS: clang>=19
// OUTPUT: 3
#include <omp.h>
#include <stdio.h>

int value[2], total;

int main() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(inoutset : total)
    value[0] = 1;
#pragma omp task depend(inoutset : total)
    value[1] = 2;
#pragma omp task depend(in : total)
    total = value[0] + value[1];
  }
  printf("%d\n", total);
}
