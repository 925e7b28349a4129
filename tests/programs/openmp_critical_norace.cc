// OpenMP: critical sections without and with a name.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 4
#include <omp.h>
#include <stdio.h>

int total, other;

int main() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
      total += 1;
#pragma omp critical
      other += 1;
    } else {
#pragma omp critical(one)
      total += 1;
#pragma omp critical
      other += 1;
    }
  }
  printf("%d\n", total + other);
}
