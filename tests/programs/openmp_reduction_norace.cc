// OpenMP: a loop with a reduction.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 135
#include <omp.h>
#include <stdio.h>

int total;

int main() {
#pragma omp parallel for num_threads(2) reduction(+ : total)
  for (int i = 0; i < 10; ++i) total += i;
#pragma omp parallel for num_threads(2) schedule(dynamic) reduction(+ : total)
  for (int i = 0; i < 10; ++i) total += i;
#pragma omp parallel for num_threads(2) schedule(guided) reduction(+ : total)
  for (int i = 0; i < 10; ++i) total += i;
  printf("%d\n", total);
}
