// OpenMP: a nest lock that was given back once too often for what follows.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>
#include <stdio.h>

#include "harness.h"

int total;
omp_nest_lock_t lock;

int main() {
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    if (omp_get_thread_num() == 0) {
      total = 1;  // RACE(a)
      reach(1);
    } else {
      await(1);
      total = 2;  // RACE(a)
    }
  }
  omp_destroy_nest_lock(&lock);
  printf("%d\n", total >= 0);
}
