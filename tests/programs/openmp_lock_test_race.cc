// OpenMP: a lock that was not to be had, and the access all the same.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;
omp_lock_t lock;

int main() {
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      omp_set_lock(&lock);
      reach(1);
      await(2);
      total = 1;  // RACE(a)
      omp_unset_lock(&lock);
    } else {
      await(1);
      int got = omp_test_lock(&lock);
      reach(2);
      total = 2;  // RACE(a)
      if (got) omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  printf("%d\n", total > 0);
}
