// OpenMP: ... is left out.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 1
#include <omp.h>
#include <stdio.h>

int total;
omp_lock_t lock;

int main() {
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_test_lock(&lock)) {
      total = 1;
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  printf("%d\n", total);
}
