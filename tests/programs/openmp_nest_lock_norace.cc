// OpenMP: a nest lock, taken twice; and one that is tried.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
// OUTPUT: 2
#include <omp.h>
#include <stdio.h>

int total;
omp_nest_lock_t lock;

int main() {
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_nest_lock(&lock);
    while (omp_test_nest_lock(&lock) == 0) {
    }
    omp_unset_nest_lock(&lock);
    total += 1;
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
  printf("%d\n", total);
}
