// OpenMP: all wait at the end of a scope, where its reduction is written.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// LEVELS: 1
// NEEDS: gcc>=12
// OUTPUT: 4
#include <omp.h>
#include <stdio.h>

int sum, copy[2];

int main() {
#pragma omp parallel num_threads(2)
  {
#pragma omp scope reduction(+ : sum)
    sum += 1;
    copy[omp_get_thread_num()] = sum;
  }
  printf("%d\n", copy[0] + copy[1]);
}
