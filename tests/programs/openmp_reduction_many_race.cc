// OpenMP: eight threads add up in a tree; one counts beside it.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

int total, beside;

int main() {
#pragma omp parallel num_threads(8) reduction(+ : total)
  {
    total += omp_get_thread_num();
    if (omp_get_thread_num() == 0) beside = 1;  // RACE(a)
    if (omp_get_thread_num() == 7) beside = 2;  // RACE(a)
  }
  printf("%d\n", total == 28);
}
