// OpenMP: ... everybody has a copy.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int value = 1, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    int mine;
#pragma omp single copyprivate(mine)
    mine = value;
    copy[omp_get_thread_num()] = mine;
    if (omp_get_thread_num() == 0) value = 5;
  }
  printf("%d\n", copy[0] & copy[1]);
}
