// OpenMP: ... none does.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total, beside;

int main() {
  int second = 0;
#pragma omp parallel num_threads(8)
  {
#pragma omp for reduction(+ : total)
    for (int i = 0; i < 80; ++i) total += 1;
#pragma omp for reduction(+ : second)
    for (int i = 0; i < 80; ++i) second += total;
    if (omp_get_thread_num() == 3) beside = second + total;
  }
  printf("%d\n", beside == 6480);
}
