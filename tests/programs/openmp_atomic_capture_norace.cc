// OpenMP: ... all of them atomic.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int next, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    int mine;
#pragma omp atomic capture
    mine = next++;
    copy[mine] = 1;
  }
  printf("%d\n", copy[0] & copy[1]);
}
