// OpenMP: two locks for one variable.
// TSAN: skip, the OpenMP library is not instrumented
// FLAGS: -fopenmp
#include <omp.h>

#include "harness.h"

omp_lock_t red, blue;
int value;

int main() {
  omp_init_lock(&red);
  omp_init_lock(&blue);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      omp_set_lock(&red);
      value = 1;  // RACE(a)
      omp_unset_lock(&red);
      reach(1);
    } else {
      await(1);
      omp_set_lock(&blue);
      value = 2;  // RACE(a)
      omp_unset_lock(&blue);
    }
  }
}
