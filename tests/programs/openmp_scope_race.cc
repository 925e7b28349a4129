// OpenMP: nobody waits at the end of a scope, where its reduction is written.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
#include <omp.h>
#include <stdio.h>

int sum, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
    _Pragma("omp scope reduction(+ : sum) nowait") sum += 1;  // RACE(a)
    copy[omp_get_thread_num()] = sum;  // RACE(a)
  }
  printf("%d\n", copy[0] >= 0);
}
